// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/ofi/messages.h"
#include "fabric/ofi/ofi.h"
#include "provider/ofi_memory.h"

/// Ranks of one process over a network that stands in for libfabric: it can do as little as any of
/// its providers, lets messages overtake each other, refuses and fails.
namespace fulmar::fabric {

/// What the network can do and how it behaves.
struct OfiHabits {
  bool ordered = true;
  bool shares_buffers = false;
  bool registers_memory = false;
  double reluctance = 0;  ///< posts are refused, and reads bring nothing, with this probability
  std::size_t inject_bytes = 64;
  std::size_t most_pieces = 4;
  std::size_t most_message_bytes = 1U << 20;
  bool come_back = false;  ///< peers that have left may be sent to
  OfiMemoryHabits memory = {};
  std::int64_t keep_alive_interval_ns = 1'000'000'000;
};

struct OfiWires {
  struct Mail {
    std::uint32_t from;
    std::vector<std::byte> bytes;
  };
  explicit OfiWires(std::uint32_t size, const OfiHabits& how)
      : habits(how), memory(size, how.memory), boxes(size), open(size, true) {}

  OfiHabits habits;
  OfiMemory memory;
  std::mt19937_64 random{11};
  std::vector<std::deque<Mail>> boxes;                         ///< by receiver
  std::vector<bool> open;                                      ///< what goes to another one fails
  std::vector<bool> silent = std::vector<bool>(boxes.size());  ///< sends to it never end
  bool takes_no_memory = false;                                ///< no more is enlisted
  std::uint64_t sends = 0;

  [[nodiscard]] bool refuses() {
    return habits.reluctance > 0 &&
           std::uniform_real_distribution<>(0, 1)(random) < habits.reluctance;
  }
  /// Where the next message for a rank is in its box: the oldest, or any.
  [[nodiscard]] std::size_t pick(std::uint32_t to) {
    return habits.ordered ? 0 : random() % boxes[to].size();
  }
};

class OfiStandIn final : public ofi::Endpoint {
 public:
  OfiStandIn(OfiWires& wires, std::uint32_t self) : wires_(wires), self_(self), name_(16) {
    name_[0] = static_cast<std::byte>(self);
    can_.provider = "stand;in";
    can_.domain = "nowhere";
    can_.address_format = 7;
    can_.inject_bytes = wires.habits.inject_bytes;
    can_.most_message_bytes = wires.habits.most_message_bytes;
    can_.most_pieces = wires.habits.most_pieces;
    can_.receive_depth = 32;
    can_.ordered = wires.habits.ordered;
    can_.shares_buffers = wires.habits.shares_buffers;
    can_.registers_memory = wires.habits.registers_memory;
    can_.moves_remotely = wires.habits.memory.is_there;
    if (can_.moves_remotely) can_.atomics = Network::Changes::by_peer;
    can_.send_depth = 64;
  }
  ~OfiStandIn() override {
    wires_.open[self_] = false;
    wires_.memory.abandon(self_);
  }

  [[nodiscard]] const ofi::Capabilities& capabilities() const noexcept override { return can_; }
  [[nodiscard]] std::span<const std::byte> name() const noexcept override { return name_; }
  [[nodiscard]] base::Result<std::uint64_t> insert(std::span<const std::byte> name) override {
    if (name.size() != name_.size()) {
      return base::failure(base::ErrorClass::other, "a name of %zu bytes", name.size());
    }
    return std::uint64_t{std::to_integer<std::uint8_t>(name[0])} + 100;
  }
  [[nodiscard]] std::string text_of(std::span<const std::byte> name) const override {
    return "port " + std::to_string(std::to_integer<int>(name[0]));
  }
  [[nodiscard]] base::Result<void*> enlist(std::span<std::byte> memory) override {
    if (!can_.registers_memory) return static_cast<void*>(nullptr);
    if (wires_.takes_no_memory) {
      return base::failure(base::ErrorClass::no_mem, "no room for %zu bytes", memory.size());
    }
    regions_.push_back(memory);
    return static_cast<void*>(memory.data());
  }

  ofi::PostResult inject(std::uint64_t to, std::span<const std::byte> bytes) override {
    if (bytes.size() > can_.inject_bytes) std::abort();
    if (wires_.refuses()) return ofi::PostResult::later;
    deliver(to, {bytes.begin(), bytes.end()});
    return ofi::PostResult::yes;
  }
  ofi::PostResult send(std::uint64_t to, std::span<const iovec> pieces, void* descriptor,
                       ofi::Ticket& ticket) override {
    if (pieces.empty() || pieces.size() > can_.most_pieces) std::abort();
    if (wires_.refuses()) return ofi::PostResult::later;
    if (wires_.silent[to - 100]) return ofi::PostResult::yes;
    std::vector<std::byte> bytes;
    for (const iovec& piece : pieces) {
      check_registered(piece, descriptor);
      const auto* const begin = static_cast<const std::byte*>(piece.iov_base);
      bytes.insert(bytes.end(), begin, begin + piece.iov_len);
    }
    const bool arrives = wires_.open[to - 100];
    deliver(to, std::move(bytes));
    (arrives ? done_ : failed_).push_back(&ticket);
    return ofi::PostResult::yes;
  }
  ofi::PostResult receive(std::span<std::byte> memory, void* descriptor,
                          ofi::Ticket& ticket) override {
    check_registered({memory.data(), memory.size()}, descriptor);
    if (buffers_.size() == can_.receive_depth) return ofi::PostResult::later;
    ticket.begin = memory.data();
    buffers_.push_back({memory, &ticket, 0});
    return ofi::PostResult::yes;
  }

  [[nodiscard]] base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                       Access access) override {
    return wires_.memory.open(self_, memory, access);
  }
  void close_memory(const MemoryRegion& opened) override { wires_.memory.close(self_, opened); }
  ofi::PostResult rdma_read(std::uint64_t peer, std::span<std::byte> to, std::uint32_t lkey,
                            const RemoteAddress& from, ofi::Ticket& ticket) override {
    return order(peer, false, to, lkey, from, ticket);
  }
  ofi::PostResult rdma_write(std::uint64_t peer, std::span<const std::byte> from,
                             std::uint32_t lkey, const RemoteAddress& to,
                             ofi::Ticket& ticket) override {
    const std::span local(const_cast<std::byte*>(from.data()), from.size());
    return order(peer, true, local, lkey, to, ticket);
  }
  ofi::PostResult atomic(std::uint64_t peer, std::span<std::byte> was,
                         const ofi::AtomicOperation& how, ofi::Ticket& ticket) override {
    if (was.size() != sizeof(std::uint64_t)) std::abort();
    return order(peer, false, was, how.lkey, how.place, ticket, how);
  }

  std::size_t read(std::span<ofi::Event> events) override {
    if (wires_.refuses()) return 0;
    wires_.memory.look(self_);
    take_ended_orders();
    if (!failed_.empty()) {
      events[0] = {};
      events[0].kind = ofi::Event::Kind::failed;
      events[0].ticket = failed_.front();
      failed_.pop_front();
      return 1;
    }
    std::size_t count = 0;
    while (count < events.size() && !done_.empty()) {
      events[count] = {};
      events[count++].ticket = done_.front();
      done_.pop_front();
    }
    auto& box = wires_.boxes[self_];
    while (count < events.size() && !box.empty() && !buffers_.empty()) {
      const auto at = box.begin() + static_cast<std::ptrdiff_t>(wires_.pick(self_));
      events[count++] = fill(at->bytes);
      box.erase(at);
    }
    return count;
  }
  [[nodiscard]] std::string last_error() const override { return "the port is closed"; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool arm() override { return true; }

 private:
  struct Buffer {
    std::span<std::byte> memory;
    ofi::Ticket* ticket;
    std::size_t used;
  };

  ofi::PostResult order(std::uint64_t peer, bool is_put, std::span<std::byte> local,
                        std::uint32_t lkey, const RemoteAddress& place, ofi::Ticket& ticket,
                        const std::optional<ofi::AtomicOperation>& atomic = std::nullopt) {
    if (wires_.refuses()) return ofi::PostResult::later;
    const auto to = static_cast<std::uint32_t>(peer - 100);
    wires_.memory.give(
        {self_, to, is_put, local.data(), local.size(), place, lkey, &ticket, atomic});
    if (!wires_.open[to]) wires_.memory.abandon(to);
    return ofi::PostResult::yes;
  }
  void take_ended_orders() {
    auto& ended = wires_.memory.ended(self_);
    for (; !ended.empty(); ended.pop_front()) {
      (ended.front().failed ? failed_ : done_).push_back(ended.front().ticket);
    }
  }
  void deliver(std::uint64_t to, std::vector<std::byte> bytes) {
    ++wires_.sends;
    if (wires_.open[to - 100]) wires_.boxes[to - 100].push_back({self_, std::move(bytes)});
  }
  void check_registered(const iovec& piece, void* descriptor) const {
    if (!can_.registers_memory) return;
    const auto* const at = static_cast<const std::byte*>(piece.iov_base);
    const bool known = std::any_of(regions_.begin(), regions_.end(), [&](const auto& region) {
      return descriptor == region.data() && at >= region.data() &&
             at + piece.iov_len <= region.data() + region.size();
    });
    if (!known) std::abort();
  }
  ofi::Event fill(const std::vector<std::byte>& bytes) {
    Buffer& buffer = buffers_.front();
    ofi::Event event;
    event.ticket = buffer.ticket;
    const std::size_t room = buffer.memory.size() - buffer.used;
    if (room < bytes.size()) std::abort();
    std::byte* const to = buffer.memory.data() + buffer.used;
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    event.bytes = {to, bytes.size()};
    buffer.used += bytes.size();
    event.frees = !can_.shares_buffers || buffer.memory.size() - buffer.used < 70'000;
    if (event.frees) buffers_.pop_front();
    return event;
  }

  OfiWires& wires_;
  std::uint32_t self_;
  ofi::Capabilities can_;
  std::vector<std::byte> name_;
  std::vector<std::span<std::byte>> regions_;
  std::deque<Buffer> buffers_;
  std::deque<ofi::Ticket*> done_;
  std::deque<ofi::Ticket*> failed_;
};

/// `size` ranks; a lost peer is noted in `losses(rank)`.
struct OfiNet {
  struct Loss {
    std::uint32_t peer;
    std::string text;
  };
  struct Rank {
    OfiNet* net = nullptr;
    std::unique_ptr<Ofi> ofi;
    std::vector<Loss> losses;
    std::vector<std::string> lines;
    std::vector<std::uint32_t> asked;  ///< whose address was looked up
    std::vector<std::uint32_t> left;   ///< ranks that have sent their FIN
  };

  OfiWires wires;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::vector<std::vector<std::byte>> addresses;

  explicit OfiNet(std::uint32_t size, const OfiHabits& habits = {}) : wires(size, habits) {
    for (std::uint32_t self = 0; self < size; ++self) {
      ranks.push_back(std::make_unique<Rank>());
      ranks.back()->net = this;
      auto opened = Ofi::open_over(config(self, size), std::make_unique<OfiStandIn>(wires, self));
      if (opened.failed()) std::abort();
      ranks.back()->ofi = std::move(*opened);
      addresses.push_back(*ranks.back()->ofi->address());
    }
  }
  OfiNet(const OfiNet&) = delete;
  OfiNet& operator=(const OfiNet&) = delete;

  /// Ends a rank without a word.
  void kill(std::size_t rank) { ranks[rank]->ofi.reset(); }
  Ofi& operator[](std::size_t rank) { return *ranks[rank]->ofi; }
  std::vector<Loss>& losses(std::size_t rank) { return ranks[rank]->losses; }

  static base::Key key() {
    base::Key made{};
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::uint8_t>(3 * i + 1);
    return made;
  }
  static constexpr std::uint32_t job = 0x12345678;

  ofi::Config config(std::uint32_t self, std::uint32_t size) {
    ofi::Config config;
    config.processes = one_job({job, self}, size, key());
    config.owner = ranks[self].get();
    config.find = [](void* owner, std::uint32_t peer) -> base::Result<std::vector<std::byte>> {
      auto& rank = *static_cast<Rank*>(owner);
      rank.asked.push_back(peer);
      return rank.net->addresses[peer];
    };
    config.lost = [](void* owner, std::uint32_t peer, const base::Error& why) {
      static_cast<Rank*>(owner)->losses.push_back({peer, why.text()});
    };
    config.keep_alive_interval_ns = wires.habits.keep_alive_interval_ns;
    if (wires.habits.come_back) {
      config.left = [](void* owner, std::uint32_t peer) {
        static_cast<Rank*>(owner)->left.push_back(peer);
      };
    }
    config.report = [](void* owner, const char* line) {
      static_cast<Rank*>(owner)->lines.emplace_back(line);
    };
    return config;
  }
};

}  // namespace fulmar::fabric
