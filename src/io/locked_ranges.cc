// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/locked_ranges.h"

#include <algorithm>
#include <chrono>

namespace fulmar::io {

bool LockedRanges::is_free(std::int64_t offset, std::int64_t length) const noexcept {
  return std::ranges::none_of(held_, [&](const Range& range) {
    return offset < range.offset + range.length && range.offset < offset + length;
  });
}

bool LockedRanges::acquire(std::int64_t offset, std::int64_t length, std::int64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  const bool free = released_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                                       [&] { return is_free(offset, length); });
  if (free) held_.push_back({offset, length});
  return free;
}

void LockedRanges::release(std::int64_t offset, std::int64_t length) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto range = std::ranges::find_if(
        held_, [&](const Range& each) { return each.offset == offset && each.length == length; });
    if (range != held_.end()) held_.erase(range);
  }
  released_.notify_all();
}

}  // namespace fulmar::io
