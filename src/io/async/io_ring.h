// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "base/os/fd.h"
#include "io/async/kernel_queues.h"

namespace fulmar::io {

/// A block of a file that the kernel reads or writes by itself. The submitter must not move it, and keeps the file
/// open, until it is returned.
struct BlockTransfer {
  enum class Kind : std::uint8_t { read, write };

  int file = -1;
  Kind kind = Kind::read;
  std::int64_t offset = 0;
  std::span<std::byte> memory;
  std::size_t moved = 0;  ///< less than all where the file ends, or after an error
  int error = 0;          ///< errno
  std::uint64_t begin_ns = 0;
  void* owner = nullptr;
  BlockTransfer* next = nullptr;
};

/// Transfers by io_uring: many are under way at a time, with one thread that gives them to the kernel and
/// takes the results. It is a thread of its own because the kernel finishes reads in the thread that has ordered them, by
/// interrupting it: system calls of the program would fail with EINTR. Interrupted and short transfers are continued.
///
/// Thread rule: `open`, `submit` and `stop` from one thread at a time.
class IoRing {
 public:
  /// Called by the ring's thread when a transfer is done.
  struct Receiver {
    void (*done)(void* context, BlockTransfer& transfer) noexcept = nullptr;
    void* context = nullptr;
  };

  explicit IoRing(Receiver receiver) noexcept : receiver_(receiver) {}
  ~IoRing() { stop(); }
  IoRing(const IoRing&) = delete;
  IoRing& operator=(const IoRing&) = delete;

  /// Makes the queues and starts the thread, unless there is one; 0, or an errno.
  [[nodiscard]] int open() noexcept;
  /// Requires an open ring.
  void submit(BlockTransfer& transfer) noexcept;
  /// Ends the thread after the transfers that were submitted. It can be opened again.
  void stop() noexcept;

 private:
  static void* run(void* self) noexcept;
  void work() noexcept;
  void ring_bell() noexcept;
  [[nodiscard]] bool take_new() noexcept;
  void start(BlockTransfer& transfer) noexcept;
  void finish(BlockTransfer& transfer, std::int32_t result) noexcept;

  Receiver receiver_;
  bool runs_ = false;
  pthread_t thread_{};
  base::UniqueFd bell_;  ///< an eventfd; a read of it is always under way

  std::mutex mutex_;
  BlockTransfer* first_ = nullptr;  ///< submitted, not seen by the thread
  BlockTransfer** last_ = &first_;
  bool bell_rung_ = false;
  bool stops_ = false;

  // Of the thread.
  KernelQueues queues_;
  BlockTransfer* waiting_ = nullptr;  ///< until the kernel has room
  BlockTransfer** last_waiting_ = &waiting_;
  unsigned under_way_ = 0;
  std::uint64_t bell_count_ = 0;
};

}  // namespace fulmar::io
