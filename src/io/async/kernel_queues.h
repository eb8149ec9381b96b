// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <linux/io_uring.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/os/fd.h"

namespace fulmar::io {

/// The two queues of io_uring(7): orders for the kernel, and what came of them. One thread uses it.
class KernelQueues {
 public:
  static constexpr unsigned depth = 64;  ///< orders at a time

  struct Order {
    bool writes;
    int file;
    void* memory;
    std::uint32_t bytes;
    std::int64_t offset;
    std::uint64_t token;  ///< comes back with the result
  };
  struct Outcome {
    std::uint64_t token;
    std::int32_t result;  ///< bytes, or the errno times -1
  };

  KernelQueues() noexcept = default;
  ~KernelQueues() { close(); }
  KernelQueues(const KernelQueues&) = delete;
  KernelQueues& operator=(const KernelQueues&) = delete;

  /// 0, or the errno: the kernel is too old, or a sandbox or the system's administrator forbids it.
  [[nodiscard]] int open() noexcept;
  void close() noexcept;
  /// Requires that fewer than `depth` orders are under way. The kernel sees it with the next `pass`.
  void put(const Order& order) noexcept;
  /// Passes orders to the kernel and waits for an outcome.
  void pass() noexcept;
  /// Requires room for `depth`; returns those that are there.
  [[nodiscard]] std::span<Outcome> take(std::span<Outcome> room) noexcept;

 private:
  [[nodiscard]] int set_up() noexcept;
  [[nodiscard]] std::byte* map(std::size_t bytes, std::int64_t offset) noexcept;

  base::UniqueFd ring_;
  std::byte* words_ = nullptr;  ///< the kernel's and this thread's places in both queues
  std::size_t words_bytes_ = 0;
  io_uring_sqe* orders_ = nullptr;
  std::size_t orders_bytes_ = 0;
  const io_uring_cqe* outcomes_ = nullptr;
  std::uint32_t* order_tail_ = nullptr;
  std::uint32_t* outcome_head_ = nullptr;
  std::uint32_t* outcome_tail_ = nullptr;
  std::uint32_t order_mask_ = 0;
  std::uint32_t outcome_mask_ = 0;
  unsigned not_passed_ = 0;
};

}  // namespace fulmar::io
