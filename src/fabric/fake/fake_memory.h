// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "base/error.h"
#include "fabric/provider.h"

namespace fulmar::fabric {

/// Eight bytes are changed in one step: `value` is added, or put there if `expected` is found.
struct FakeChange {
  enum class Kind : std::uint8_t { add, swap };
  Kind kind = Kind::add;
  std::uint64_t value = 0;
  std::uint64_t expected = 0;
};

/// Memory that the ports of a FakeNetwork have registered, and their RDMA and atomic operations. Bytes move
/// when an operation *happens*, neither before nor after, so that a caller that changes or deregisters
/// memory too early is detected by the result. Unsignaled writes happen when the peer polls, in two halves
/// with polls in between.
///
/// Off at first: then nothing can be opened.
class FakeMemory {
 public:
  struct Order {
    std::uint32_t from = 0;  ///< the port that has posted it
    std::uint32_t to = 0;
    bool is_put = false;
    std::span<std::byte> local;
    std::uint32_t lkey = 0;
    RemoteAddress place;
    std::uint64_t token = 0;
    bool is_quiet = false;             ///< an unsignaled write
    std::vector<std::byte> copy = {};  ///< of an unsignaled write that was copied
    std::optional<FakeChange> change = std::nullopt;
    // Set by `give`.
    std::uint64_t packets_ahead = 0;  ///< ever posted to the peer before it
    std::uint64_t puts_ahead = 0;     ///< quiet ones
    bool uses_region = false;
    bool is_half_done = false;

    [[nodiscard]] std::span<const std::byte> source() const noexcept {
      return copy.empty() ? std::span<const std::byte>(local) : copy;
    }
  };
  struct Ended {
    std::uint64_t token = 0;
    Sent how = Sent::done;
    std::uint32_t lkey = 0;
    bool uses_region = false;
  };
  struct Counters {
    std::uint64_t opened = 0;
    std::uint64_t fetches = 0;  ///< that happened
    std::uint64_t puts = 0;
    std::uint64_t quiet_puts = 0;
    std::uint64_t bad_places = 0;  ///< orders for memory that the peer has not opened for them
    /// Breaches of the rules of fabric::Network: memory closed under an order or twice, and orders
    /// with memory that is not open here.
    std::uint64_t breaches = 0;
  };

  FakeMemory(std::uint32_t ports, std::uint64_t seed) : ports_(ports), random_(seed) {
    constexpr std::uint32_t few = 256;
    if (ports <= few) prepare();
  }

  void turn_on() {
    is_on_ = true;
    prepare();
  }
  /// The next `count` attempts to open memory fail.
  void refuse_to_open(unsigned count) noexcept { refusals_ = count; }
  /// A port may have so much open at a time; more fails, as beyond the limit on locked memory.
  void limit_open(std::size_t bytes) noexcept { open_limit_ = bytes; }
  /// So many orders of a port may be under way; more are answered `again`.
  void set_room(std::size_t orders) noexcept { room_ = orders; }
  /// Operations wait until let_orders_go, move_order, or a packet behind them.
  void hold_orders() noexcept { held_ = true; }
  void let_orders_go() noexcept { held_ = false; }
  /// Carries out the oldest operation of a port; its end is reported by the port's next poll. False: none.
  bool move_order(std::uint32_t port);
  /// The next `count` orders that happen by themselves end as lost instead, although the peer
  /// lives: as if another way to it were left. Puts behind which a packet was posted are passed
  /// over, because that packet arrives.
  /// A network with polled writes (WritesUnsignaled) must not lose a write: later packets may wait in the
  /// channel, which is not known here. Jobs whose packets are writes let only reads fail.
  enum class Victims : std::uint8_t { all, fetches };
  void fail_orders(unsigned count, Victims victims = Victims::all) noexcept {
    failures_ = count;
    victims_ = victims;
  }

  [[nodiscard]] base::Result<MemoryRegion> open(std::uint32_t port, std::span<std::byte> memory,
                                                Access access);
  void close(std::uint32_t port, const MemoryRegion& opened);
  [[nodiscard]] Post give(Order order);
  /// Ends an order before it has begun: there is no peer.
  void lose(const Order& order) { end(order, Sent::lost); }
  /// A port has died: its orders are gone, those to it end as lost. Some bytes have moved: half of
  /// each fetch, and of the puts on each way half of the first one. Packets that were posted behind
  /// a put that was lost do not arrive.
  void kill(std::uint32_t port);
  /// The same, but the port gets to know that its orders are lost.
  void cut_off(std::uint32_t port);
  /// Ends the connection of the two.
  void part(std::uint32_t one, std::uint32_t other);
  /// The two have no connection any more, because one asked for what the other had not opened.
  [[nodiscard]] bool broken(std::uint32_t one, std::uint32_t other) const noexcept {
    return !broken_.empty() && broken_[pair(one, other)];
  }

  [[nodiscard]] bool has_orders() const noexcept { return !orders_.empty() || untold_ > 0; }
  /// May carry out an operation of the port; true if one has ended and has to be reported now.
  [[nodiscard]] bool look(std::uint32_t port, Ended& ended);
  void count_posted(std::uint32_t from, std::uint32_t to) noexcept {
    if (!posted_.empty()) ++posted_[pair(from, to)];
  }
  /// Lets quiet puts to the port go on, perhaps; true if one has. Those of ports for which
  /// `blocked(from)` holds do not.
  template <class Blocked>
  bool let_in(std::uint32_t port, Blocked&& blocked) {
    if (held_) return false;
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      const Order& order = orders_[i];
      if (order.to != port || !order.is_quiet || !is_first_put(i)) continue;
      if (random_() % 2 == 0 || blocked(order.from)) continue;
      advance(i);
      return true;
    }
    return false;
  }
  /// A packet is about to arrive: what was put before it was posted is there first. False: some of
  /// that was lost, and the packet with it.
  [[nodiscard]] bool arrive(std::uint32_t from, std::uint32_t to);

  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  /// Operations whose end was not reported.
  [[nodiscard]] std::size_t under_way() const noexcept { return orders_.size() + untold_; }
  [[nodiscard]] std::size_t open_regions() const noexcept { return regions_.size(); }

 private:
  /// Makes what there is for each pair of ports: in a network of very many only where it is needed.
  void prepare();

  struct Region {
    std::uint32_t port = 0;
    std::span<std::byte> memory;
    Access access = Access::local;
    MemoryRegion opened;
    unsigned orders = 0;  ///< of the own port, under way
  };

  [[nodiscard]] std::size_t pair(std::uint32_t from, std::uint32_t to) const noexcept {
    return std::size_t{from} * ports_ + to;
  }
  [[nodiscard]] Region* own_region(std::uint32_t port, std::uint32_t key);
  [[nodiscard]] bool may_reach(const Order& order) const;
  [[nodiscard]] bool may_fail(const Order& order) const;
  [[nodiscard]] std::size_t pick(std::uint32_t port);
  [[nodiscard]] bool is_first_put(std::size_t index) const;
  static void move(const Order& order, std::size_t bytes);
  static void change(const Order& order);
  void advance(std::size_t index);
  void forget(const Order& order);
  void lose_packets_behind(const Order& order);
  void happen(std::size_t index);
  void end(const Order& order, Sent how);

  std::uint32_t ports_;
  std::mt19937_64 random_;
  bool is_on_ = false;
  bool held_ = false;
  unsigned refusals_ = 0;
  unsigned failures_ = 0;
  Victims victims_ = Victims::all;
  std::size_t open_limit_ = SIZE_MAX;
  std::size_t room_ = 64;
  std::uint32_t regions_ever_ = 0;
  std::vector<Region> regions_;
  std::vector<bool> broken_;              ///< of each pair
  std::vector<std::uint64_t> posted_;     ///< packets, of each pair
  std::vector<std::uint64_t> taken_;      ///< packets, of each pair
  std::vector<std::uint64_t> quiet_;      ///< quiet puts, of each pair
  std::vector<std::uint64_t> arriving_;   ///< so many packets of each pair arrive at most
  std::deque<Order> orders_;              ///< that wait, as they were given
  std::vector<std::deque<Ended>> ended_;  ///< of each port
  std::size_t untold_ = 0;                ///< in `ended_`
  Counters counters_;
};

}  // namespace fulmar::fabric
