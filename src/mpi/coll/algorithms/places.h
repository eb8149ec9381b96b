// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::mpi {

/// A power of two of places for algorithms that halve or double: the first 2 * `extra` ranks are
/// pairs that share a place.
struct Places {
  int count = 1;
  int extra;

  explicit Places(int n) noexcept {
    while (count * 2 <= n) count *= 2;
    extra = n - count;
  }
  [[nodiscard]] bool paired(int rank) const noexcept { return rank < 2 * extra; }
  [[nodiscard]] int place_of(int rank) const noexcept {
    return paired(rank) ? rank / 2 : rank - extra;
  }
  /// The rank that works for a place: the even one of a pair.
  [[nodiscard]] int worker(int place) const noexcept {
    return place < extra ? 2 * place : place + extra;
  }
};

}  // namespace fulmar::mpi
