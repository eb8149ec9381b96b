// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <ctime>

#include <cstdint>

namespace fulmar::mpiexec {

inline constexpr std::int64_t ns_per_ms = 1'000'000;
inline constexpr std::int64_t ns_per_s = 1'000'000'000;

/// "No point in time": later than every other.
inline constexpr std::int64_t never_ns = INT64_MAX;

/// Monotonic time in nanoseconds; stands still while the machine sleeps.
inline std::int64_t now_ns() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * ns_per_s + time.tv_nsec;
}

}  // namespace fulmar::mpiexec
