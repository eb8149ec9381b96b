// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/rma/remote_access.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/trace.h"
#include "device/buffer/runs.h"
#include "device/device.h"

/// **When orders are posted.** At once, as a rule: the network returns `again` where enough is in
/// flight, and then they wait in the queues of their target until progress finds space. One kind of
/// order waits although there is space: a short put that begins where the last one ended, while a
/// write to this target is in flight. More such puts are likely to follow, and each travels in the
/// same write, until a block is full or the program makes progress, as every call does that waits
/// for a completion. So a single put is not delayed, and a flush delays nothing.
///
/// **Which is posted first.** Queued writes and reads take turns. The adapter processes
/// the work requests of a connection in order; reads behind many long writes would leave the other
/// direction idle until the writes are out. Neither may take all the space while the other waits.
namespace fulmar::device {

using fabric::Post;
using fabric::Sent;

namespace {

/// Bytes of one order of a long operation, as for long messages (protocol/rndv_rdma.cc).
constexpr std::uint64_t order_bytes = 1U << 20;
/// Orders that may be queued; beyond that the caller waits for the network.
constexpr std::size_t most_queued = 4096;

}  // namespace

RemoteAccess::RemoteAccess(Device& device, std::span<const RemoteTarget> targets,
                           const RemoteSchedule& schedule, RemoteCounters& counters)
    : device_(device),
      schedule_(schedule),
      counters_(counters),
      pool_(*device.network()),
      targets_(targets.size()) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    static_cast<RemoteTarget&>(targets_[i]) = targets[i];
  }
  step = [](ProgressCallback& hook) { return static_cast<RemoteAccess&>(hook).push_kept(); };
}

RemoteAccess::~RemoteAccess() {
  if (hooked_) device_.remove_progress_callback(*this);
  for (const Order& order : orders_) device_.completions().remove(order.token);
}

fabric::Network& RemoteAccess::network() const noexcept { return *device_.network(); }

base::Error RemoteAccess::probe() {
  if (pool_.used() != 0) return {};  // they are given back
  BounceBlock* const block = pool_.take();
  if (block == nullptr) return pool_.error();
  pool_.give_back(*block);
  return {};
}

RemoteAccess::Order& RemoteAccess::make(Order::Kind kind, std::uint32_t target,
                                        const fabric::RemoteAddress& place) {
  if (queued_ >= most_queued && kind != Order::Kind::change) {
    device_.wait([&]() noexcept { return queued_ < most_queued / 2; });
  }
  Order* order = free_;
  if (order != nullptr) {
    free_ = order->next;
  } else {
    order = &orders_.emplace_back();
    order->owner = this;
    order->ended = [](Completion& completion, Sent how) noexcept {
      auto& ended = static_cast<Order&>(completion);
      ended.owner->end(ended, how);
    };
    order->token = device_.completions().add(*order);
  }
  order->kind = kind;
  order->target = target;
  order->place = place;
  order->number = next_number_++;
  ++targets_[target].unfinished;
  ++*targets_[target].pending;
  return *order;
}

void RemoteAccess::recycle(Order& order) noexcept {
  if (order.block != nullptr) pool_.give_back(*std::exchange(order.block, nullptr));
  order.operation = nullptr;
  order.change = nullptr;
  order.copy_to = nullptr;
  order.next = free_;
  free_ = &order;
}

BounceBlock& RemoteAccess::take_block() {
  for (;;) {
    BounceBlock* const block = pool_.take();
    if (block != nullptr) return *block;
    // Where there are threads the condition is asked again after it was true: it changes nothing.
    const std::size_t used = pool_.used();
    device_.wait([&]() noexcept { return pool_.used() < used; });
  }
}

/// Merges a short put into the last queued one, if it continues that.
bool RemoteAccess::merge(Target& target, const fabric::RemoteAddress& to,
                         std::span<const std::byte> bytes) {
  if (target.writes.empty()) return false;
  Order& last = *target.writes.last;
  const std::size_t begun = last.local.size();
  const bool continues = last.block != nullptr && last.operation == nullptr &&
                         last.place.key == to.key && last.place.address + begun == to.address;
  if (!continues || begun + bytes.size() > last.block->memory.size()) return false;
  std::memcpy(last.block->memory.data() + begun, bytes.data(), bytes.size());
  last.local = last.block->memory.first(begun + bytes.size());
  ++counters_.merged;
  return true;
}

void RemoteAccess::put(std::uint32_t target, const fabric::RemoteAddress& to,
                       std::span<const std::byte> bytes) {
  Target& there = targets_[target];
  const bool continues =
      schedule_.merges && there.end_of_last == to.address && there.key_of_last == to.key;
  there.end_of_last = to.address + bytes.size();
  there.key_of_last = to.key;
  if (continues && merge(there, to, bytes)) {
    if (there.writes.last->local.size() == BouncePool::block_bytes) post_or_keep(there);
    return;
  }
  BounceBlock& block = take_block();
  Order& order = make(Order::Kind::write, target, to);
  std::memcpy(block.memory.data(), bytes.data(), bytes.size());
  order.block = &block;
  order.local = block.memory.first(bytes.size());
  order.lkey = block.lkey;
  if (continues && there.writes_out != 0 && bytes.size() < BouncePool::block_bytes) {
    if (!there.writes.empty()) post_or_keep(there);
    there.writes.push(order);
    ++queued_;
    return keep(there);
  }
  enqueue(order);
}

void RemoteAccess::get(std::uint32_t target, const fabric::RemoteAddress& from,
                       std::span<std::byte> to) {
  BounceBlock& block = take_block();
  Order& order = make(Order::Kind::read, target, from);
  order.block = &block;
  order.local = block.memory.first(to.size());
  order.lkey = block.lkey;
  order.copy_to = to.data();
  enqueue(order);
}

void RemoteAccess::begin(RemoteOperation& operation, std::uint64_t bytes) {
  if (bytes <= most_copied_bytes) return;
  const std::span<std::byte> memory = bounding_range(operation.local, bytes);
  if (memory.empty()) return;
  const Holds holds = operation.local.packer == nullptr ? Holds::all : Holds::parts;
  auto taken = device_.memory().take(network(), memory, fabric::Access::local, holds);
  if (taken.ok()) operation.memory = *taken;
}

/// Calls `give(offset, run, bytes)` for each order: `run` is its memory if that of the
/// operation is registered, else empty.
template <class Give>
void RemoteAccess::cut(RemoteOperation& operation, std::uint64_t offset, std::uint64_t bytes,
                       Give&& give) {
  const std::uint64_t most =
      std::min<std::uint64_t>(order_bytes, network().attributes().rdma_bytes);
  for (const std::uint64_t end = offset + bytes; offset < end;) {
    std::span<std::byte> run;
    std::uint64_t length = std::min({end - offset, std::uint64_t{BouncePool::block_bytes}, most});
    if (operation.memory) {
      run = run_at(operation.local, offset, std::min(most, end - offset));
      length = run.size();
      if (run.empty()) return;  // the description of the data is inconsistent
    }
    give(offset, run, length);
    offset += length;
  }
}

void RemoteAccess::put(std::uint32_t target, const fabric::RemoteAddress& to,
                       RemoteOperation& operation, std::uint64_t offset, std::uint64_t bytes) {
  targets_[target].key_of_last = targets_[target].end_of_last = 0;
  cut(operation, offset, bytes,
      [&](std::uint64_t at, std::span<std::byte> run, std::uint64_t length) {
        BounceBlock* const block = run.empty() ? &take_block() : nullptr;
        Order& order = make(Order::Kind::write, target, {to.address + (at - offset), to.key});
        if (block != nullptr) {
          run = block->memory.first(length);
          read_buffer(operation.local, at, run);
        }
        order.block = block;
        order.local = run;
        order.lkey = block != nullptr ? block->lkey : operation.memory->opened.lkey;
        order.operation = &operation;
        ++operation.orders;
        enqueue(order);
      });
}

void RemoteAccess::get(std::uint32_t target, const fabric::RemoteAddress& from,
                       RemoteOperation& operation, std::uint64_t offset, std::uint64_t bytes) {
  cut(operation, offset, bytes,
      [&](std::uint64_t at, std::span<std::byte> run, std::uint64_t length) {
        BounceBlock* const block = run.empty() ? &take_block() : nullptr;
        Order& order = make(Order::Kind::read, target, {from.address + (at - offset), from.key});
        order.block = block;
        order.local = block != nullptr ? block->memory.first(length) : run;
        order.lkey = block != nullptr ? block->lkey : operation.memory->opened.lkey;
        order.operation = &operation;
        order.offset = at;
        ++operation.orders;
        enqueue(order);
      });
}

void RemoteAccess::finish(RemoteOperation& operation) { end_operation(operation); }

void RemoteAccess::end_operation(RemoteOperation& operation) {
  if (--operation.orders != 0) return;
  if (operation.memory) device_.memory().give_back(*operation.memory);
  operation.memory.reset();
  operation.ended(operation);
}

void RemoteAccess::change(std::uint32_t target, const fabric::RemoteAddress& place,
                          RemoteChange& change) {
  Order& order = make(Order::Kind::change, target, place);
  order.local = change.room.first(sizeof change.was);
  order.lkey = change.lkey;
  order.change = &change;
  enqueue(order);
}

void RemoteAccess::enqueue(Order& order) {
  Target& target = targets_[order.target];
  (order.kind == Order::Kind::write ? target.writes : target.reads).push(order);
  ++queued_;
  post_or_keep(target);
}

/// Posts the queued orders of the target, as far as there is space.
void RemoteAccess::post_or_keep(Target& target) {
  while (!target.writes.empty() || !target.reads.empty()) {
    if (!post_next(target)) return keep(target);
  }
}

RemoteAccess::Queue& RemoteAccess::next_queue(Target& target) noexcept {
  if (target.writes.empty()) return target.reads;
  if (target.reads.empty()) return target.writes;
  if (schedule_.interleaves) return target.wrote_last ? target.reads : target.writes;
  return target.writes.first->number < target.reads.first->number ? target.writes : target.reads;
}

/// False: there is no space.
bool RemoteAccess::post_next(Target& target) {
  Queue& queue = next_queue(target);
  Order& order = *queue.first;
  const bool is_write = order.kind == Order::Kind::write;
  if (is_lost(target) || post(order) == Post::again) return false;
  (void)queue.pop();
  --queued_;
  target.wrote_last = is_write;
  ++(is_write ? target.writes_out : target.reads_out);
  count(order);
  return true;
}

Post RemoteAccess::post(const Order& order) {
  const std::uint32_t peer = targets_[order.target].peer;
  switch (order.kind) {
    case Order::Kind::write:
      return network().rdma_write(peer, order.local, order.lkey, order.place, order.token);
    case Order::Kind::read:
      return network().rdma_read(peer, order.local, order.lkey, order.place, order.token);
    case Order::Kind::change:
      break;
  }
  const RemoteChange& change = *order.change;
  return change.kind == RemoteChange::Kind::add
             ? network().fetch_add(peer, order.local, order.lkey, order.place, change.value,
                                   order.token)
             : network().compare_swap(peer, order.local, order.lkey, order.place, change.expected,
                                      change.value, order.token);
}

void RemoteAccess::count(const Order& order) noexcept {
  switch (order.kind) {
    case Order::Kind::write:
      ++counters_.writes;
      counters_.written_bytes += order.local.size();
      break;
    case Order::Kind::read:
      ++counters_.reads;
      counters_.read_bytes += order.local.size();
      break;
    case Order::Kind::change:
      ++counters_.changes;
      break;
  }
}

/// Leaves the target to progress.
void RemoteAccess::keep(Target& target) {
  if (target.in_backlog) return;
  target.in_backlog = true;
  backlog_.push_back(static_cast<std::uint32_t>(&target - targets_.data()));
  if (std::exchange(hooked_, true)) return;
  device_.add_progress_callback(*this);
}

bool RemoteAccess::is_lost(const Target& target) const {
  if (!network().alive(target.peer)) return true;
  const Failures& failures = device_.failures();
  return !failures.none() && failures.why(target.peer) != nullptr;
}

/// Orders for a process that has failed end without having been posted.
void RemoteAccess::lose(Target& target) {
  while (!target.writes.empty() || !target.reads.empty()) {
    Queue& queue = target.writes.empty() ? target.reads : target.writes;
    Order& order = queue.pop();
    --queued_;
    ++(order.kind == Order::Kind::write ? target.writes_out : target.reads_out);
    end(order, Sent::lost);
  }
}

/// A progress callback while orders wait.
unsigned RemoteAccess::push_kept() {
  unsigned moved = 0;
  std::vector<std::uint32_t> backlog;
  backlog.swap(backlog_);
  for (const std::uint32_t number : backlog) targets_[number].in_backlog = false;
  for (const std::uint32_t number : backlog) {
    Target& target = targets_[number];
    const std::size_t before = queued_;
    if (is_lost(target)) lose(target);
    post_or_keep(target);
    moved += before > queued_ ? 1 : 0;
  }
  if (backlog_.empty() && std::exchange(hooked_, false)) device_.remove_progress_callback(*this);
  return moved;
}

void RemoteAccess::end(Order& order, Sent how) {
  Target& target = targets_[order.target];
  const bool is_lost = how == Sent::lost;
  --(order.kind == Order::Kind::write ? target.writes_out : target.reads_out);
  RemoteOperation* const operation = order.operation;
  RemoteChange* const change = order.change;
  if (is_lost) {
    if (operation != nullptr) {
      operation->lost = true;
    } else if (change != nullptr) {
      change->lost = true;
    } else if (*target.error == base::ErrorClass::success) {
      *target.error = base::ErrorClass::proc_failed;
    }
  } else if (change != nullptr) {
    std::memcpy(&change->was, order.local.data(), sizeof change->was);
  } else if (order.kind == Order::Kind::read && order.block != nullptr) {
    if (operation != nullptr) {
      write_buffer(operation->local, order.offset, order.local);
    } else {
      base::copy_bytes(order.copy_to, order.local.data(), order.local.size());
    }
  }
  recycle(order);
  if (operation != nullptr) end_operation(*operation);
  if (change != nullptr) change->ended(*change);
  --target.unfinished;
  --*target.pending;
  device_.wake_waiters();
}

}  // namespace fulmar::device
