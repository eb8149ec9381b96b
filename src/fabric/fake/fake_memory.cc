// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/fake/fake_memory.h"

#include <algorithm>
#include <cstring>

namespace fulmar::fabric {
namespace {

/// Local and remote keys differ, so that a mix-up is detected; one key is 0.
constexpr std::uint32_t first_own_key = 1U << 16;

bool lies_in(std::span<const std::byte> inner, std::span<const std::byte> outer) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(inner.data());
  const auto from = reinterpret_cast<std::uintptr_t>(outer.data());
  return begin >= from && inner.size() <= outer.size() &&
         begin - from <= outer.size() - inner.size();
}

}  // namespace

base::Result<MemoryRegion> FakeMemory::open(std::uint32_t port, std::span<std::byte> memory,
                                            Access access) {
  std::size_t bytes = memory.size();
  for (const Region& region : regions_) bytes += region.port == port ? region.memory.size() : 0;
  const bool refused = refusals_ > 0;
  if (refused) --refusals_;
  if (!is_on_ || refused || memory.empty() || bytes > open_limit_) {
    return base::failure(base::ErrorClass::no_mem, "port %u may not open %zu bytes", port,
                         memory.size());
  }
  ++counters_.opened;
  const MemoryRegion opened{regions_ever_ + 1, first_own_key + regions_ever_, regions_ever_};
  ++regions_ever_;
  regions_.push_back({port, memory, access, opened, 0});
  return opened;
}

void FakeMemory::close(std::uint32_t port, const MemoryRegion& opened) {
  const auto at = std::find_if(regions_.begin(), regions_.end(), [&](const Region& region) {
    return region.port == port && region.opened.handle == opened.handle;
  });
  if (at == regions_.end() || at->orders != 0) ++counters_.breaches;
  if (at != regions_.end()) regions_.erase(at);
}

void FakeMemory::prepare() {
  const std::size_t pairs = std::size_t{ports_} * ports_;
  broken_.resize(pairs);
  posted_.resize(pairs);
  taken_.resize(pairs);
  quiet_.resize(pairs);
  arriving_.resize(pairs, UINT64_MAX);
  ended_.resize(ports_);
}

Post FakeMemory::give(Order order) {
  prepare();
  const auto mine = std::count_if(orders_.begin(), orders_.end(),
                                  [&](const Order& other) { return other.from == order.from; });
  if (static_cast<std::size_t>(mine) >= room_) return Post::again;
  order.packets_ahead = posted_[pair(order.from, order.to)];
  order.puts_ahead = quiet_[pair(order.from, order.to)];
  if (order.is_quiet) ++quiet_[pair(order.from, order.to)];
  if (order.is_quiet && !order.copy.empty()) {
    orders_.push_back(std::move(order));
    return Post::done;
  }
  Region* region = own_region(order.from, order.lkey);
  const bool serves = region != nullptr && (order.is_put || region->access != Access::peers_read) &&
                      !order.local.empty() && lies_in(order.local, region->memory);
  if (!serves) {
    ++counters_.breaches;
    lose(order);
    return Post::done;
  }
  ++region->orders;
  order.uses_region = true;
  orders_.push_back(order);
  return Post::done;
}

FakeMemory::Region* FakeMemory::own_region(std::uint32_t port, std::uint32_t key) {
  for (Region& region : regions_) {
    if (region.port == port && region.opened.lkey == key) return &region;
  }
  return nullptr;
}

bool FakeMemory::may_reach(const Order& order) const {
  const Access needed = order.change   ? Access::peers_change
                        : order.is_put ? Access::peers_write
                                       : Access::peers_read;
  const std::span<const std::byte> wanted(reinterpret_cast<const std::byte*>(order.place.address),
                                          order.source().size());
  return std::any_of(regions_.begin(), regions_.end(), [&](const Region& region) {
    return region.port == order.to && region.opened.rkey == order.place.key &&
           (region.access == needed || region.access == Access::peers_change) &&
           lies_in(wanted, region.memory);
  });
}

bool FakeMemory::may_fail(const Order& order) const {
  const std::size_t way = pair(order.from, order.to);
  if (!order.is_put) return true;
  return !order.is_quiet && victims_ == Victims::all && posted_[way] == order.packets_ahead &&
         quiet_[way] == order.puts_ahead;
}

void FakeMemory::move(const Order& order, std::size_t bytes) {
  auto* remote = reinterpret_cast<std::byte*>(order.place.address);
  if (order.change) return change(order);
  std::memcpy(order.is_put ? remote : order.local.data(),
              order.is_put ? order.source().data() : remote, bytes);
}

void FakeMemory::change(const Order& order) {
  auto* const remote = reinterpret_cast<std::byte*>(order.place.address);
  std::uint64_t value = 0;
  std::memcpy(&value, remote, sizeof value);
  std::memcpy(order.local.data(), &value, sizeof value);
  const bool adds = order.change->kind == FakeChange::Kind::add;
  if (adds) value += order.change->value;
  if (!adds && value == order.change->expected) value = order.change->value;
  std::memcpy(remote, &value, sizeof value);
}

/// An operation has ended; it is reported to its port, unless it is unsignaled.
void FakeMemory::end(const Order& order, Sent how) {
  if (order.is_quiet) return forget(order);
  ended_[order.from].push_back({order.token, how, order.lkey, order.uses_region});
  ++untold_;
}

void FakeMemory::forget(const Order& order) {
  Region* region = order.uses_region ? own_region(order.from, order.lkey) : nullptr;
  if (region != nullptr) --region->orders;
}

/// A way delivers in order: what was posted behind a put that is lost is lost, too.
void FakeMemory::lose_packets_behind(const Order& order) {
  if (!order.is_put) return;
  std::uint64_t& arriving = arriving_[pair(order.from, order.to)];
  arriving = std::min(arriving, order.packets_ahead);
}

/// The other puts of its port to the same peer are behind it.
bool FakeMemory::is_first_put(std::size_t index) const {
  const Order& order = orders_[index];
  return std::none_of(orders_.begin(), orders_.begin() + static_cast<std::ptrdiff_t>(index),
                      [&](const Order& other) {
                        return other.is_put && other.from == order.from && other.to == order.to;
                      });
}

/// The front of a quiet put happens, or the rest: half of long ones, any bytes of a word.
void FakeMemory::advance(std::size_t index) {
  Order& order = orders_[index];
  const std::size_t bytes = order.source().size();
  const std::size_t front = bytes <= sizeof(std::uint64_t) ? random_() % bytes : bytes / 2;
  if (order.is_half_done || front == 0 || random_() % 2 == 0 || !may_reach(order)) {
    return happen(index);
  }
  move(order, front);
  order.is_half_done = true;
}

void FakeMemory::happen(std::size_t index) {
  const Order order = orders_[index];
  orders_.erase(orders_.begin() + static_cast<std::ptrdiff_t>(index));
  if (!may_reach(order)) {
    ++counters_.bad_places;
    end(order, Sent::lost);
    lose_packets_behind(order);
    return part(order.from, order.to);
  }
  move(order, order.source().size());
  ++(order.is_quiet ? counters_.quiet_puts : order.is_put ? counters_.puts : counters_.fetches);
  end(order, Sent::done);
}

void FakeMemory::part(std::uint32_t one, std::uint32_t other) {
  prepare();
  broken_[pair(one, other)] = broken_[pair(other, one)] = true;
  std::erase_if(orders_, [&](const Order& order) {
    const bool between =
        (order.from == one && order.to == other) || (order.from == other && order.to == one);
    if (!between) return false;
    lose_packets_behind(order);
    end(order, Sent::lost);
    return true;
  });
}

void FakeMemory::kill(std::uint32_t port) {
  cut_off(port);
  if (ended_.empty()) return;
  untold_ -= ended_[port].size();
  ended_[port].clear();
}

void FakeMemory::cut_off(std::uint32_t port) {
  std::vector<bool> has_put(orders_.empty() ? 0 : broken_.size());
  std::erase_if(orders_, [&](const Order& order) {
    if (order.from != port && order.to != port) return false;
    const std::size_t way = pair(order.from, order.to);
    const bool has_begun = !order.is_put || !has_put[way];
    if (order.is_put) has_put[way] = true;
    if (has_begun && may_reach(order) && !order.change) move(order, order.source().size() / 2);
    lose_packets_behind(order);
    end(order, Sent::lost);
    return true;
  });
}

bool FakeMemory::move_order(std::uint32_t port) {
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    if (orders_[i].from != port) continue;
    happen(i);
    return true;
  }
  return false;
}

/// An order of the port that may be the next to happen: any fetch, and of the puts to each peer the
/// oldest. `orders_.size()`: none.
std::size_t FakeMemory::pick(std::uint32_t port) {
  std::vector<std::size_t> ready;
  std::vector<bool> has_put(ports_);
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    const Order& order = orders_[i];
    if (order.from != port || (order.is_put && has_put[order.to])) continue;
    if (order.is_put) has_put[order.to] = true;
    ready.push_back(i);
  }
  return ready.empty() ? orders_.size() : ready[random_() % ready.size()];
}

bool FakeMemory::look(std::uint32_t port, Ended& ended) {
  if (ended_[port].empty() && !held_ && random_() % 2 == 0) {
    const std::size_t index = pick(port);
    if (index < orders_.size()) {
      const Order order = orders_[index];
      if (failures_ > 0 && may_fail(order)) {
        --failures_;
        orders_.erase(orders_.begin() + static_cast<std::ptrdiff_t>(index));
        end(order, Sent::lost);
      } else if (order.is_quiet) {
        advance(index);
      } else {
        happen(index);
      }
    }
  }
  if (ended_[port].empty()) return false;
  ended = ended_[port].front();
  ended_[port].pop_front();
  --untold_;
  Region* region = ended.uses_region ? own_region(port, ended.lkey) : nullptr;
  if (region != nullptr) --region->orders;
  return true;
}

bool FakeMemory::arrive(std::uint32_t from, std::uint32_t to) {
  if (taken_.empty()) return true;
  const std::size_t way = pair(from, to);
  const std::uint64_t packet = taken_[way]++;
  for (std::size_t i = 0; i < orders_.size();) {
    const Order& order = orders_[i];
    const bool ahead =
        order.from == from && order.to == to && order.is_put && order.packets_ahead <= packet;
    if (!ahead) {
      ++i;
      continue;
    }
    happen(i);
    i = 0;  // others may have ended with it
  }
  return packet < arriving_[way];
}

}  // namespace fulmar::fabric
