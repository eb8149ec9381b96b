// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "mpi/datatype/datatype.h"
#include "mpi/rma/win.h"

namespace fulmar::mpi {

/// Bytes from `begin` up to `end`, counted like the place that they were made from.
struct ByteRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What `count` elements touch whose origin lies at `place`. Nothing where that leaves 64 bits.
[[nodiscard]] inline std::optional<ByteRange> touched_bytes(std::int64_t place, std::int64_t count,
                                                            const Datatype& type) noexcept {
  if (count == 0 || type.size == 0) return ByteRange{place, place};
  std::int64_t last = 0;
  ByteRange range;
  std::int64_t begin = 0;
  if (__builtin_mul_overflow(count - 1, type.extent, &last) ||
      __builtin_add_overflow(place, type.true_lb, &begin) ||
      __builtin_add_overflow(begin, std::min<std::int64_t>(last, 0), &range.begin) ||
      __builtin_add_overflow(begin, type.true_extent, &range.end) ||
      __builtin_add_overflow(range.end, std::max<std::int64_t>(last, 0), &range.end)) {
    return std::nullopt;
  }
  return range;
}

/// Whether `count` elements whose origin lies at `place` may be touched: bytes from the base of the
/// target, or, in a dynamic window, an address of this process, where each run of the elements must
/// lie in attached memory.
[[nodiscard]] bool is_in_window(const Win& win, const RmaTarget& target, std::int64_t place,
                                std::int64_t count, const Datatype& type) noexcept;

}  // namespace fulmar::mpi
