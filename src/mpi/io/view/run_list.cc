// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/view/run_list.h"

#include <algorithm>
#include <array>

namespace fulmar::mpi {
namespace {

constexpr std::size_t segments_at_a_time = 256;

/// Adds a piece to a run; false if it does not go on in the same way.
bool extend(FileRun& run, Count offset, Count length) noexcept {
  if (run.length != length) return false;
  if (run.count == 1) run.stride = offset - run.offset;
  if (offset != run.offset + run.stride * run.count) return false;
  ++run.count;
  return true;
}

}  // namespace

RunList::RunList(const FileView& view, Count position, Count bytes, Extent window) {
  FileRun last{};
  std::array<iovec, segments_at_a_time> segments;
  while (bytes > 0) {
    const std::size_t found = view.segments(position, bytes, segments);
    for (const iovec& segment : std::span(segments).first(found)) {
      const auto length = static_cast<Count>(segment.iov_len);
      const Count offset = offset_in(segment);
      position += length;
      bytes -= length;
      if (last.count != 0 && extend(last, offset, length)) continue;
      if (last.count != 0) add(last, window);
      last = {offset, length, length, 1};
    }
  }
  if (last.count != 0) add(last, window);
}

void RunList::add(const FileRun& run, Extent window) {
  const auto offset = static_cast<Word>(run.offset - window.first);
  if (run.count == 1) {
    words_.insert(words_.end(), {offset, static_cast<Word>(run.length)});
  } else {
    words_.insert(words_.end(), {offset | row_bit, static_cast<Word>(run.length),
                                 static_cast<Word>(run.stride), static_cast<Word>(run.count)});
  }
}

bool RunList::read(Extent window, std::size_t& at, FileRun& run) const noexcept {
  const std::size_t left = words_.size() - at;
  const bool is_row = (words_[at] & row_bit) != 0;
  if (left < (is_row ? 4U : 2U)) return false;
  run.offset = window.first + static_cast<Count>(words_[at] & ~row_bit);
  run.length = words_[at + 1];
  run.stride = is_row ? words_[at + 2] : run.length;
  run.count = is_row ? words_[at + 3] : 1;
  at += is_row ? 4 : 2;
  return true;
}

/// Of two words a piece, which has a gap behind it, unless it is the last of `segments_at_a_time`
/// that are handled together.
Count RunList::most_words(Extent window, Count bytes) noexcept {
  const Count length = window.end - window.first;
  const Count pieces =
      std::min(bytes, length / 2 + length / static_cast<Count>(segments_at_a_time) + 2);
  return 2 * std::max<Count>(pieces, 2);
}

bool RunList::is_valid(Extent window, Count bytes) const noexcept {
  const Count most = window.end - window.first;
  if (most < 0 || most > longest_window) return false;
  Count behind = window.first;
  Count total = 0;
  FileRun run{};
  for (std::size_t at = 0; at < words_.size();) {
    if (!read(window, at, run)) return false;
    if (run.length <= 0 || run.length > most || run.count <= 0 || run.count > most) return false;
    if (run.count > 1 && (run.stride < run.length || run.stride > most)) return false;
    if (run.offset < behind || run.offset > window.end) return false;
    // All factors are at most 2^30.
    behind = run.offset + (run.count > 1 ? run.stride * (run.count - 1) : 0) + run.length;
    if (behind > window.end) return false;
    total += run.length * run.count;
  }
  return total == bytes;
}

bool RunList::is_one_piece() const noexcept {
  if (words_.size() == 2) return true;
  return words_.size() == 4 && (words_[0] & row_bit) != 0 &&
         (words_[3] == 1 || words_[2] == words_[1]);
}

}  // namespace fulmar::mpi
