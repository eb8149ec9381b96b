// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/range.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>

#include "mpi/datatype/view.h"

namespace fulmar::mpi {
namespace {

/// Whether all of a range lies in attached memory, in one piece or in pieces that touch.
bool is_attached(const Win& win, ByteRange range) noexcept {
  auto at = static_cast<std::uint64_t>(range.begin);
  const auto end = static_cast<std::uint64_t>(range.end);
  if (range.begin == range.end) return true;
  if (at > end) return false;  // around the end of the address space
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

/// The same for each run of the elements: what lies between them need not be attached. Elements that
/// lie over each other may have any number of runs, so these are looked at up to a limit only: a
/// request of a few bytes must not keep its target busy.
bool are_runs_attached(const Win& win, std::int64_t place, std::int64_t count, const Datatype& type,
                       ByteRange range) noexcept {
  constexpr std::size_t runs_at_a_time = 64;
  constexpr std::uint64_t most_overlapping_bytes = std::uint64_t{1} << 26;
  std::array<iovec, runs_at_a_time> runs;
  const View view(type, count);
  const auto length =
      static_cast<std::uint64_t>(range.end) - static_cast<std::uint64_t>(range.begin);
  if (view.bytes() > std::max(length, most_overlapping_bytes)) return false;
  for (std::uint64_t done = 0; done < view.bytes();) {
    const std::size_t found =
        view.segments(reinterpret_cast<const void*>(place), done, view.bytes() - done, runs);
    if (found == 0) return false;
    for (const iovec& run : std::span(runs).first(found)) {
      const auto begin = reinterpret_cast<std::int64_t>(run.iov_base);
      if (!is_attached(win, {begin, begin + static_cast<std::int64_t>(run.iov_len)})) return false;
      done += run.iov_len;
    }
  }
  return true;
}

}  // namespace

bool is_in_window(const Win& win, const RmaTarget& target, std::int64_t place, std::int64_t count,
                  const Datatype& type) noexcept {
  std::int64_t bytes = 0;
  const std::optional<ByteRange> range = touched_bytes(place, count, type);
  if (!range || __builtin_mul_overflow(count, type.size, &bytes)) return false;
  if (range->begin == range->end) return true;
  if (!win.dynamic()) return range->begin >= 0 && range->end <= target.size;
  return is_attached(win, *range) ||
         (!type.contiguous && are_runs_attached(win, place, count, type, *range));
}

}  // namespace fulmar::mpi
