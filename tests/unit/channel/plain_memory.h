// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/os/futex.h"
#include "channel/mapped_channel.h"
#include "channel/mapped_channel.inl"

namespace fulmar::channel {

/// The areas of several ranks in plain memory of this process; pages that nobody touches cost
/// nothing.
class PlainMemory {
 public:
  PlainMemory(std::uint32_t ranks, std::uint64_t area_bytes)
      : ranks(ranks), area_bytes(area_bytes) {
    base_ = ::mmap(nullptr, ranks * area_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~PlainMemory() { ::munmap(base_, ranks * area_bytes); }
  PlainMemory(const PlainMemory&) = delete;
  PlainMemory& operator=(const PlainMemory&) = delete;

  [[nodiscard]] std::byte* area(std::uint32_t rank) const {
    return static_cast<std::byte*>(base_) + rank * area_bytes;
  }
  [[nodiscard]] wire::AreaControl& control(std::uint32_t rank) const {
    return *reinterpret_cast<wire::AreaControl*>(area(rank));
  }
  [[nodiscard]] wire::AreaLayout layout() const { return wire::AreaLayout::fit(ranks, area_bytes); }
  [[nodiscard]] wire::Ring& ring(std::uint32_t rank, std::uint32_t index) const {
    return *reinterpret_cast<wire::Ring*>(area(rank) + layout().rings +
                                          index * layout().ring_bytes());
  }
  [[nodiscard]] wire::Mailbox& mailbox(std::uint32_t owner, std::uint32_t sender) const {
    return reinterpret_cast<wire::Mailbox*>(area(owner) + layout().mailboxes)[sender];
  }
  [[nodiscard]] std::atomic<std::uint32_t>& claim(std::uint32_t owner, std::uint32_t sender) const {
    return reinterpret_cast<std::atomic<std::uint32_t>*>(area(owner) + layout().claims)[sender];
  }

  const std::uint32_t ranks;
  const std::uint64_t area_bytes;

 private:
  void* base_ = nullptr;
};

/// One rank of it.
class Port {
 public:
  static constexpr const char* name = "plain";

  Port(PlainMemory& memory, std::uint32_t self) : memory_(memory), self_(self) {}
  [[nodiscard]] std::uint32_t self() const noexcept { return self_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return memory_.ranks; }
  [[nodiscard]] bool alive(std::uint32_t) const noexcept { return true; }
  [[nodiscard]] std::byte* area(std::uint32_t peer) noexcept { return memory_.area(peer); }
  [[nodiscard]] std::uint64_t area_bytes() const noexcept { return memory_.area_bytes; }
  void wake(std::uint32_t peer) noexcept {
    if (on_wake) on_wake();
    auto& word = memory_.control(peer).asleep;
    if (word.exchange(0, std::memory_order_acq_rel) != 0) {
      base::futex_wake(word, 1, base::FutexScope::process);
    }
  }
  std::function<void()> on_wake;

 private:
  PlainMemory& memory_;
  std::uint32_t self_;
};
static_assert(fabric::MapsPeers<Port>);

/// What arrived.
struct Collector {
  struct Packet {
    std::uint32_t peer;
    wire::Envelope envelope;
    std::vector<std::byte> body;
  };
  void packet(std::uint32_t peer, const wire::Envelope& envelope, const fabric::Body& body) {
    const auto bytes = body.bytes();
    packets.push_back({peer, envelope, {bytes.begin(), bytes.end()}});
  }
  std::vector<Packet> packets;
};

/// A packet with a number in its tag and a body that follows from it.
inline std::byte content(std::int32_t number, std::size_t at) {
  return static_cast<std::byte>(static_cast<std::uint32_t>(number) * 31 + at * 7 + at / 251);
}
template <class Channel, class Link>
fabric::Post put(Channel& channel, Link& link, std::int32_t number, std::uint32_t bytes) {
  return channel.put(link, {wire::PacketKind::eager, 0, 7, number, bytes},
                     [&](std::span<std::byte> to, std::uint64_t at) {
                       for (std::size_t i = 0; i < to.size(); ++i) to[i] = content(number, at + i);
                     });
}
inline bool sound(const Collector::Packet& packet) {
  for (std::size_t at = 0; at < packet.body.size(); ++at) {
    if (packet.body[at] != content(packet.envelope.tag, at)) return false;
  }
  return packet.envelope.kind == wire::PacketKind::eager && packet.envelope.context == 7 &&
         packet.body.size() == packet.envelope.length;
}

/// Ranks in one process, in one thread. Cut-through is off where one thread plays both sides,
/// since the receiver of such a body waits for the sender.
class Ranks {
 public:
  explicit Ranks(std::uint32_t count, std::uint64_t area_bytes = 8U << 20)
      : memory(count, area_bytes) {
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      ports.push_back(std::make_unique<Port>(memory, rank));
      channels.push_back(std::make_unique<MappedChannel<Port>>(*ports.back()));
      channels.back()->set_cut_through(CutThrough::off);
    }
  }
  std::vector<Collector::Packet> get(std::uint32_t rank = 0) {
    Collector collector;
    channels[rank]->get(collector);
    return std::move(collector.packets);
  }
  std::unique_ptr<MappedLink> link(std::uint32_t from, std::uint32_t to = 0) {
    return channels[from]->connect(to);
  }
  PlainMemory memory;
  std::vector<std::unique_ptr<Port>> ports;
  std::vector<std::unique_ptr<MappedChannel<Port>>> channels;
};

/// An area with room for `rings` rings of the smallest kind.
inline std::uint64_t area_for(std::uint32_t ranks, std::uint64_t rings) {
  const wire::AreaLayout none = wire::AreaLayout::fit(ranks, std::uint64_t{1} << 20);
  return none.rings + rings * (sizeof(wire::Ring) + wire::smallest_ring_data_bytes) + 64;
}

}  // namespace fulmar::channel
