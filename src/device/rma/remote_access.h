// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/error_class.h"
#include "device/buffer/buffer.h"
#include "device/completion.h"
#include "device/config.h"
#include "device/progress/hook.h"
#include "device/regcache/memory_opener.h"
#include "device/rma/bounce_pool.h"
#include "device/rma/remote_counters.h"
#include "fabric/network.h"

namespace fulmar::device {

class Device;

/// An operation whose bytes are moved directly from or to the user's memory, or whose completion
/// the caller waits for. Owned by the caller until `ended`.
struct RemoteOperation {
  Buffer local;                       ///< the origin's bytes; a packer lives as long as this
  std::optional<TakenMemory> memory;  ///< registered for its orders; nothing: bytes are copied
  std::uint32_t orders = 1;           ///< that have not ended, plus one until `finish`
  bool lost = false;
  /// Its last order has ended. May free it.
  void (*ended)(RemoteOperation&) noexcept = nullptr;
};

/// A change of eight bytes at a target in one step. Owned by the caller until `ended`.
struct RemoteChange {
  enum class Kind : std::uint8_t { add, swap };
  Kind kind = Kind::add;
  std::uint64_t value = 0;  ///< added, or put there if `expected` is found
  std::uint64_t expected = 0;
  std::uint64_t was = 0;  ///< what was found
  bool lost = false;
  /// Eight bytes of a bounce block, in which the adapter stores the old value.
  std::span<std::byte> room;
  std::uint32_t lkey = 0;
  /// May free it, and give another order.
  void (*ended)(RemoteChange&) noexcept = nullptr;
};

/// One process whose memory is read and written. `pending` counts the orders for it that have not
/// ended; `error` becomes proc_failed where one is lost that belongs to no RemoteOperation or
/// RemoteChange. Both are the caller's and outlive the access.
struct RemoteTarget {
  std::uint32_t peer = 0;  ///< the id of its process
  std::uint32_t* pending = nullptr;
  base::ErrorClass* error = nullptr;
};

/// The one-sided operations of a window whose targets opened their memory to this network
/// (`Network::rdma_write`, `rdma_read`, `fetch_add`, `compare_swap`): cut into orders, merged,
/// ordered, and posted to the network as it has space. An order that has ended has taken effect at
/// the target. Short data are copied through bounce blocks, which are registered anyway, so that
/// their own memory need not be.
///
/// Orders of one target are not ordered among each other, not even those for the same address: MPI
/// does not define the result of conflicting operations of an epoch (MPI 5.0 section 12.7), and a
/// caller that needs an order waits for completion. Copied puts that were merged nevertheless write
/// in the order of the calls.
///
/// Members may wait for space and make progress meanwhile. Thread rule: the lock of the engine.
class RemoteAccess : private ProgressCallback {
 public:
  /// Longer data of operations are not copied where the memory of the origin can be registered.
  static constexpr std::uint64_t most_copied_bytes = BouncePool::block_bytes;

  /// `device` has a network, which moves memory of all targets that are used. `counters` may be
  /// shared with others, and outlives this.
  RemoteAccess(Device& device, std::span<const RemoteTarget> targets,
               const RemoteSchedule& schedule, RemoteCounters& counters);
  RemoteAccess(const RemoteAccess&) = delete;
  RemoteAccess& operator=(const RemoteAccess&) = delete;
  /// Requires that no order is in flight.
  ~RemoteAccess();

  /// Writes up to `most_copied_bytes` bytes, which are copied.
  void put(std::uint32_t target, const fabric::RemoteAddress& to, std::span<const std::byte> bytes);
  /// Reads up to `most_copied_bytes` bytes.
  void get(std::uint32_t target, const fabric::RemoteAddress& from, std::span<std::byte> to);

  /// Begins an operation on the first `bytes` packed bytes of `operation.local`, which is set:
  /// registers their memory if that is worth it.
  void begin(RemoteOperation& operation, std::uint64_t bytes);
  /// Packed bytes [offset, offset + bytes) of its data from, or to, one run of the target's memory.
  void put(std::uint32_t target, const fabric::RemoteAddress& to, RemoteOperation& operation,
           std::uint64_t offset, std::uint64_t bytes);
  void get(std::uint32_t target, const fabric::RemoteAddress& from, RemoteOperation& operation,
           std::uint64_t offset, std::uint64_t bytes);
  /// All of its orders have been made: `ended` is called as soon as they have ended, perhaps now.
  void finish(RemoteOperation& operation);

  /// A block for RemoteChange::room; waits for one.
  [[nodiscard]] BounceBlock& take_block();
  void give_back(BounceBlock& block) noexcept { pool_.give_back(block); }
  /// Changes eight bytes of memory at a multiple of eight. Never waits.
  void change(std::uint32_t target, const fabric::RemoteAddress& place, RemoteChange& change);

  /// Why data cannot be copied through blocks: then put, get and change must not be called.
  [[nodiscard]] base::Error probe();
  /// Orders for a target that have not ended.
  [[nodiscard]] std::uint32_t under_way(std::uint32_t target) const noexcept {
    return targets_[target].unfinished;
  }

 private:
  struct Order : Completion {
    enum class Kind : std::uint8_t { write, read, change };
    RemoteAccess* owner = nullptr;
    std::uint64_t token = 0;  ///< of the completion; for good
    Order* next = nullptr;
    Kind kind = Kind::write;
    std::uint32_t target = 0;
    std::uint64_t number = 0;  ///< in the order of the calls
    fabric::RemoteAddress place;
    std::span<std::byte> local;
    std::uint32_t lkey = 0;
    BounceBlock* block = nullptr;
    RemoteOperation* operation = nullptr;
    std::uint64_t offset = 0;      ///< of a read for an operation: where its bytes go
    std::byte* copy_to = nullptr;  ///< of a read without one
    RemoteChange* change = nullptr;
  };
  struct Queue {
    Order* first = nullptr;
    Order* last = nullptr;

    [[nodiscard]] bool empty() const noexcept { return first == nullptr; }
    void push(Order& order) noexcept {
      order.next = nullptr;
      (first == nullptr ? first : last->next) = &order;
      last = &order;
    }
    Order& pop() noexcept {
      Order& order = *first;
      first = order.next;
      return order;
    }
  };
  struct Target : RemoteTarget {
    Queue writes;
    Queue reads;  ///< and changes
    std::uint32_t unfinished = 0;
    std::uint32_t writes_out = 0;
    std::uint32_t reads_out = 0;
    bool wrote_last = false;
    bool in_backlog = false;
    std::uint64_t end_of_last = 0;  ///< address behind the last short write
    std::uint64_t key_of_last = 0;
  };

  [[nodiscard]] fabric::Network& network() const noexcept;
  Order& make(Order::Kind kind, std::uint32_t target, const fabric::RemoteAddress& place);
  void recycle(Order& order) noexcept;
  bool merge(Target& target, const fabric::RemoteAddress& to, std::span<const std::byte> bytes);
  void enqueue(Order& order);
  void post_or_keep(Target& target);
  bool post_next(Target& target);
  [[nodiscard]] Queue& next_queue(Target& target) noexcept;
  [[nodiscard]] fabric::Post post(const Order& order);
  void count(const Order& order) noexcept;
  void keep(Target& target);
  [[nodiscard]] bool is_lost(const Target& target) const;
  void lose(Target& target);
  unsigned push_kept();
  void end(Order& order, fabric::Sent how);
  void end_operation(RemoteOperation& operation);
  template <class Give>
  void cut(RemoteOperation& operation, std::uint64_t offset, std::uint64_t bytes, Give&& give);

  Device& device_;
  RemoteSchedule schedule_;
  RemoteCounters& counters_;
  BouncePool pool_;
  std::vector<Target> targets_;
  std::deque<Order> orders_;
  Order* free_ = nullptr;
  std::uint64_t next_number_ = 0;
  std::size_t queued_ = 0;
  std::vector<std::uint32_t> backlog_;  ///< targets with orders that wait
  bool hooked_ = false;
};

}  // namespace fulmar::device
