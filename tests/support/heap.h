// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <malloc.h>

#include <cstddef>
#include <memory>

/// What a test's process has on the heap, as the C library counts it: nothing is replaced or
/// hooked.
namespace heap {

/// Bytes in use, with what the allocator needs to keep them, also of pieces mapped for themselves.
inline std::size_t bytes_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// False with an allocator without statistics: that of a sanitizer.
inline bool is_counted() {
  const std::size_t before = bytes_in_use();
  const auto piece = std::make_unique<char[]>(100'000);
  piece[0] = 1;
  return bytes_in_use() >= before + 100'000;
}

}  // namespace heap
