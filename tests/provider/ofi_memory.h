// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "fabric/ofi/endpoint.h"

namespace fulmar::fabric {

/// How memory is reached in the network that stands in for libfabric.
struct OfiMemoryHabits {
  bool is_there = true;
  bool asks_for_own = false;   ///< the own side of an order has to be open, too
  bool names_by_place = true;  ///< peers name bytes by their distance from the region's begin
  std::size_t most_regions = 1000;
  double lag = 0;  ///< probability that a poll does not carry out an operation
};

/// The memory that ranks have opened, and orders to read and write it. An order is carried out when
/// the rank whose memory it is looks, as with a provider whose progress is manual, and not in the
/// order in which they were given. Breaks of the rules by who uses it end the test program.
class OfiMemory {
 public:
  struct Order {
    std::uint32_t from;
    std::uint32_t to;
    bool is_put;
    std::byte* local;
    std::size_t bytes;
    RemoteAddress place;
    std::uint32_t lkey;
    ofi::Ticket* ticket;
    std::optional<ofi::AtomicOperation> atomic = std::nullopt;
  };
  struct Ended {
    ofi::Ticket* ticket;
    bool failed;
  };

  OfiMemory(std::uint32_t size, const OfiMemoryHabits& habits) : habits(habits), ended_(size) {}

  OfiMemoryHabits habits;
  std::uint64_t rdma_reads = 0;
  std::uint64_t rdma_writes = 0;
  std::optional<std::uint64_t> fails;  ///< this order, counted from 0, fails; it moves nothing

  [[nodiscard]] base::Result<MemoryRegion> open(std::uint32_t rank, std::span<std::byte> memory,
                                                Access access) {
    if (access == Access::local && !habits.asks_for_own) return MemoryRegion{};
    if (regions_.size() >= habits.most_regions) {
      return base::failure(base::ErrorClass::no_mem, "no room for %zu bytes", memory.size());
    }
    const std::uint32_t number = ++last_;
    MemoryRegion opened{number + 500U, number, random_() | std::uint64_t{1} << 40, 0};
    if (habits.names_by_place) opened.peer_base = reinterpret_cast<std::uintptr_t>(memory.data());
    regions_[number] = {rank, memory, access, opened};
    return opened;
  }
  void close(std::uint32_t rank, const MemoryRegion& opened) {
    if (opened.lkey == 0 && !habits.asks_for_own) return;
    const auto found = regions_.find(opened.lkey);
    if (found == regions_.end() || found->second.rank != rank) std::abort();
    for (const Order& order : operations_) {
      if (order.from == rank && order.lkey == opened.lkey) std::abort();  // still in use
    }
    regions_.erase(found);
  }
  void give(const Order& order) {
    check_own(order);
    ++(order.is_put ? rdma_writes : rdma_reads);
    operations_.push_back(order);
  }
  /// `rank` polls: some of the operations on its memory are carried out.
  void look(std::uint32_t rank) {
    for (std::size_t i = 0; i < operations_.size();) {
      const std::size_t at = (i + shift_) % operations_.size();
      if (operations_[at].to != rank || lags()) {
        ++i;
        continue;
      }
      const bool done = (!fails || *fails != carried_++) && carry_out(operations_[at]);
      end(at, !done);
    }
    shift_ = random_() % 16;
  }
  /// A rank is gone, or can no longer be reached.
  void abandon(std::uint32_t rank) {
    for (std::size_t i = operations_.size(); i-- > 0;) {
      if (operations_[i].from == rank) {
        operations_.erase(operations_.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (operations_[i].to == rank) {
        end(i, true);
      }
    }
    std::erase_if(regions_, [&](const auto& each) { return each.second.rank == rank; });
  }
  [[nodiscard]] std::deque<Ended>& ended(std::uint32_t rank) { return ended_[rank]; }
  [[nodiscard]] std::size_t regions() const noexcept { return regions_.size(); }

 private:
  struct Region {
    std::uint32_t rank;
    std::span<std::byte> memory;
    Access access;
    MemoryRegion opened;
  };

  [[nodiscard]] bool lags() {
    return habits.lag > 0 && std::uniform_real_distribution<>(0, 1)(random_) < habits.lag;
  }
  void check_own(const Order& order) const {
    if (order.bytes == 0) std::abort();
    if (!habits.asks_for_own) return;
    const auto found = regions_.find(order.lkey);
    if (found == regions_.end() || found->second.rank != order.from) std::abort();
    const Region& region = found->second;
    const bool serves = order.is_put || region.access != Access::peers_read;
    if (!serves || order.local < region.memory.data() ||
        order.local + order.bytes > region.memory.data() + region.memory.size()) {
      std::abort();
    }
  }
  /// False: the place is not open for that.
  bool carry_out(const Order& order) {
    const Access needed = order.atomic   ? Access::peers_change
                          : order.is_put ? Access::peers_write
                                         : Access::peers_read;
    for (const auto& [number, region] : regions_) {
      const std::uint64_t begin =
          reinterpret_cast<std::uintptr_t>(region.memory.data()) - region.opened.peer_base;
      const bool serves = region.access == needed || region.access == Access::peers_change;
      if (region.rank != order.to || !serves || region.opened.rkey != order.place.key ||
          order.place.address < begin || order.bytes > region.memory.size() ||
          order.place.address - begin > region.memory.size() - order.bytes) {
        continue;
      }
      std::byte* const there = region.memory.data() + (order.place.address - begin);
      if (order.atomic) {
        atomic(order, there);
        return true;
      }
      std::memcpy(order.is_put ? there : order.local, order.is_put ? order.local : there,
                  order.bytes);
      return true;
    }
    return false;
  }
  static void atomic(const Order& order, std::byte* there) {
    std::uint64_t value = 0;
    std::memcpy(&value, there, sizeof value);
    std::memcpy(order.local, &value, sizeof value);
    const std::uint64_t* const operands = order.atomic->operands;
    const bool adds = order.atomic->kind == ofi::AtomicOperation::Kind::add;
    if (adds) value += operands[0];
    if (!adds && value == operands[1]) value = operands[0];
    std::memcpy(there, &value, sizeof value);
  }
  void end(std::size_t at, bool failed) {
    ended_[operations_[at].from].push_back({operations_[at].ticket, failed});
    operations_.erase(operations_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  std::mt19937_64 random_{5};
  std::map<std::uint32_t, Region> regions_;
  std::deque<Order> operations_;
  std::vector<std::deque<Ended>> ended_;
  std::uint32_t last_ = 0;
  std::uint64_t carried_ = 0;
  std::size_t shift_ = 0;
};

}  // namespace fulmar::fabric
