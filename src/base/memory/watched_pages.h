// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include "base/memory/address_range.h"

namespace fulmar::base {

/// How many ranges that are watched cover each page, so that a page is given up with the last.
/// Ranges are whole pages and may overlap; each `add` is taken back by one `remove` of the same
/// range. One thread at a time.
class WatchedPages {
 public:
  void add(const AddressRange& range) {
    split(range.begin);
    split(range.end);
    std::uintptr_t at = range.begin;
    auto piece = pieces_.lower_bound(at);
    while (at < range.end) {
      if (piece == pieces_.end() || piece->first > at) {
        const std::uintptr_t end =
            piece == pieces_.end() ? range.end : std::min(piece->first, range.end);
        piece = pieces_.emplace_hint(piece, at, Piece{end, 0, true});
      }
      ++piece->second.count;
      piece->second.is_watched = true;
      at = piece->second.end;
      ++piece;
    }
  }

  /// Calls `unused(range)` for each part that no other range covers and the kernel still watches.
  template <class F>
  void remove(const AddressRange& range, F&& unused) {
    auto piece = pieces_.lower_bound(range.begin);
    while (piece != pieces_.end() && piece->first < range.end) {
      if (--piece->second.count != 0) {
        ++piece;
        continue;
      }
      if (piece->second.is_watched) unused(AddressRange{piece->first, piece->second.end});
      piece = pieces_.erase(piece);
    }
  }

  /// The kernel watches these addresses no more, because what was mapped there is gone.
  void forget(const AddressRange& range) {
    if (pieces_.empty()) return;
    split(range.begin);
    split(range.end);
    for (auto piece = pieces_.lower_bound(range.begin);
         piece != pieces_.end() && piece->first < range.end; ++piece) {
      piece->second.is_watched = false;
    }
  }

  /// Calls `each(range)` for what the kernel still watches.
  template <class F>
  void for_each_watched(F&& each) const {
    for (const auto& [begin, piece] : pieces_) {
      if (piece.is_watched) each(AddressRange{begin, piece.end});
    }
  }
  [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }

 private:
  struct Piece {
    std::uintptr_t end;
    std::uint32_t count;
    bool is_watched;
  };

  /// Makes `at` the beginning of a piece if it lies inside one.
  void split(std::uintptr_t at) {
    auto next = pieces_.lower_bound(at);
    if (next == pieces_.begin()) return;
    const auto piece = std::prev(next);
    if (piece->second.end <= at) return;
    Piece rest = piece->second;
    piece->second.end = at;
    pieces_.emplace_hint(next, at, rest);
  }

  std::map<std::uintptr_t, Piece> pieces_;
};

}  // namespace fulmar::base
