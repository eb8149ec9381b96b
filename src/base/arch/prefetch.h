// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>

namespace fulmar::base::arch {

inline constexpr std::size_t cache_line = 64;

/// Prefetches the line at `address` for writing.
inline void prefetch_to_write(const void* address) noexcept {
#if defined(__x86_64__)
  // Not the builtin: without a processor option it asks for a line to read.
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1, 3);
#endif
}

inline void prefetch_to_read(const void* address) noexcept { __builtin_prefetch(address, 0, 3); }

}  // namespace fulmar::base::arch
