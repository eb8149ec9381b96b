// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fake/fake.h"
#include "study/remote_channel.h"
#include "unit/study/studied_memory.h"

/// Ranks that talk by a channel design, over any memory.
namespace fulmar::study {

using fabric::Post;

/// Two ranks or more in one thread.
class Net {
 public:
  virtual ~Net() = default;
  virtual Post put(std::uint32_t from, std::uint32_t to, std::int32_t number,
                   std::uint32_t bytes) = 0;
  virtual Post put_long(std::uint32_t from, std::uint32_t to, std::span<const iovec> pieces,
                        std::span<const std::byte> prefix, std::uint64_t token) = 0;
  /// One look of a rank, and whatever the network does meanwhile.
  virtual void get(std::uint32_t rank) = 0;
  virtual const DesignCounters& counters(std::uint32_t rank) = 0;
  virtual std::size_t body_limit(std::uint32_t from, std::uint32_t to) = 0;
  /// From now on nothing moves around the ring.
  virtual void close_memory() = 0;
  /// Moves around the ring fail from now on, but for some at the beginning.
  virtual void fail_moves() = 0;
  /// Looks of all ranks until nothing changes any more.
  void settle() {
    for (int i = 0; i < 4000; ++i) {
      for (std::uint32_t rank = 0; rank < sinks.size(); ++rank) get(rank);
    }
  }
  std::vector<LongCollector> sinks;
};

template <class P>
class NetOf : public Net {
 public:
  NetOf(const DesignPlan& plan, std::uint32_t ranks, std::uint64_t area_bytes)
      : memory_(ranks, area_bytes), late_(memory_, 7) {
    sinks.resize(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if constexpr (std::is_same_v<P, LatePort>) {
        ports_.push_back(std::make_unique<P>(late_, rank));
      } else {
        ports_.push_back(std::make_unique<P>(memory_, rank));
      }
      channels_.push_back(std::make_unique<DesignChannel<P>>(*ports_.back()));
      channels_.back()->choose(plan);
    }
  }
  Post put(std::uint32_t from, std::uint32_t to, std::int32_t number,
           std::uint32_t bytes) override {
    DesignLink link{to};
    return channel::put(*channels_[from], link, number, bytes);
  }
  Post put_long(std::uint32_t from, std::uint32_t to, std::span<const iovec> pieces,
                std::span<const std::byte> prefix, std::uint64_t token) override {
    std::uint64_t bytes = prefix.size();
    for (const iovec& piece : pieces) bytes += piece.iov_len;
    return channels_[from]->post_in_place(
        to, {wire::PacketKind::data, 0, 3, 9, static_cast<std::uint32_t>(bytes)}, prefix, pieces,
        token);
  }
  void get(std::uint32_t rank) override {
    late_.step();
    channels_[rank]->get(sinks[rank]);
  }
  const DesignCounters& counters(std::uint32_t rank) override {
    return channels_[rank]->design_counters();
  }
  std::size_t body_limit(std::uint32_t from, std::uint32_t to) override {
    DesignLink link{to};
    return channels_[from]->body_limit(link, 0);
  }
  void close_memory() override {
    for (const auto& port : ports_) port->reaches = false;
  }
  void fail_moves() override {
    for (const auto& port : ports_) port->moves_before_failure = 2;
  }

 private:
  PlainMemory memory_;
  LateNetwork late_;
  std::vector<std::unique_ptr<P>> ports_;
  std::vector<std::unique_ptr<DesignChannel<P>>> channels_;
};

/// Over the fake network, which is as late as adapters may be.
class FakeNet : public Net {
 public:
  FakeNet(const DesignPlan& plan, std::uint32_t ranks) : network_(ranks, 3) {
    network_.memory().turn_on();
    sinks.resize(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      ranks_.push_back(std::make_unique<Rank>(network_, rank));
      ranks_.back()->channel.choose(plan);
    }
    // Cards are exchanged first, so that tests see what designs do.
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
      for (std::uint32_t peer = 0; peer < rank; ++peer) (void)ranks_[rank]->channel.connect(peer);
    }
    settle();
  }
  Post put(std::uint32_t from, std::uint32_t to, std::int32_t number,
           std::uint32_t bytes) override {
    DesignLink link{to};
    return channel::put(ranks_[from]->channel, link, number, bytes);
  }
  Post put_long(std::uint32_t from, std::uint32_t to, std::span<const iovec> pieces,
                std::span<const std::byte> prefix, std::uint64_t token) override {
    std::uint64_t bytes = prefix.size();
    for (const iovec& piece : pieces) bytes += piece.iov_len;
    return ranks_[from]->channel.post_in_place(
        to, {wire::PacketKind::data, 0, 3, 9, static_cast<std::uint32_t>(bytes)}, prefix, pieces,
        token);
  }
  void get(std::uint32_t rank) override { ranks_[rank]->channel.get(sinks[rank]); }
  const DesignCounters& counters(std::uint32_t rank) override {
    return ranks_[rank]->channel.design_counters();
  }
  std::size_t body_limit(std::uint32_t from, std::uint32_t to) override {
    DesignLink link{to};
    return ranks_[from]->channel.body_limit(link, 0);
  }
  void close_memory() override { network_.memory().refuse_to_open(UINT32_MAX); }
  void fail_moves() override { network_.memory().fail_orders(1); }
  fabric::FakeNetwork& network() { return network_; }
  RemoteDesignChannel<fabric::Fake>& channel(std::uint32_t rank) { return ranks_[rank]->channel; }

 private:
  struct Rank {
    Rank(fabric::FakeNetwork& network, std::uint32_t self) : port(network, self), channel(port) {}
    fabric::Fake port;
    RemoteDesignChannel<fabric::Fake> channel;
  };
  fabric::FakeNetwork network_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

enum class Memory { mapped, late, fake };

inline std::unique_ptr<Net> make_net(Memory memory, const DesignPlan& plan, std::uint32_t ranks = 2,
                                     std::uint64_t area_bytes = 16U << 20) {
  if (memory == Memory::fake) return std::make_unique<FakeNet>(plan, ranks);
  if (memory == Memory::late) return std::make_unique<NetOf<LatePort>>(plan, ranks, area_bytes);
  return std::make_unique<NetOf<StudiedPort>>(plan, ranks, area_bytes);
}

}  // namespace fulmar::study
