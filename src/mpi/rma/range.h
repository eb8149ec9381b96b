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

/// Whether all of a range lies in memory that is attached to a dynamic window here, in one piece or
/// in pieces that touch.
[[nodiscard]] inline bool is_attached(const Win& win, ByteRange range) noexcept {
  auto at = static_cast<std::uint64_t>(range.begin);
  const auto end = static_cast<std::uint64_t>(range.end);
  if (range.begin == range.end) return true;
  for (std::size_t looks = 0; at < end && looks <= win.attached.size(); ++looks) {
    const auto piece =
        std::find_if(win.attached.begin(), win.attached.end(), [at](const Win::Attached& each) {
          return each.address <= at && at - each.address < each.bytes;
        });
    if (piece == win.attached.end()) return false;
    at = piece->address + piece->bytes;
  }
  return at >= end;
}

/// Whether elements at `place` of this process's memory may be touched, and where they lie: bytes
/// from the base, or an address in a dynamic window.
[[nodiscard]] inline bool is_in_window(const Win& win, const RmaTarget& target,
                                       const std::optional<ByteRange>& range) noexcept {
  if (!range) return false;
  if (win.dynamic()) return is_attached(win, *range);
  return range->begin == range->end || (range->begin >= 0 && range->end <= target.size);
}

}  // namespace fulmar::mpi
