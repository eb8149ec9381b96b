// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace fulmar::io {

/// The parts of one open file that threads of this process keep for themselves. A lock of the operating
/// system belongs to the open file, so it does not exclude threads that use the same one from each other; and a
/// thread that releases a part of it releases it for all. So parts that overlap are held by one thread at a
/// time, whatever they do.
///
/// Thread rule: any thread.
class LockedRanges {
 public:
  /// Waits until no other thread holds any byte of [offset, offset + length), `timeout_ns` at most.
  /// Returns whether the caller holds it now.
  [[nodiscard]] bool acquire(std::int64_t offset, std::int64_t length, std::int64_t timeout_ns);
  /// Of the caller.
  void release(std::int64_t offset, std::int64_t length) noexcept;

 private:
  struct Range {
    std::int64_t offset;
    std::int64_t length;
  };
  [[nodiscard]] bool is_free(std::int64_t offset, std::int64_t length) const noexcept;

  std::mutex mutex_;
  std::condition_variable released_;
  std::vector<Range> held_;
};

}  // namespace fulmar::io
