// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>

namespace fulmar::mpi {

/// Whether a program will wait for a non-blocking access at once, judged by those before it: then to wake a thread for it,
/// 10 to 20 us, would be in vain, as who waits carries it out (decision 0060). A program that computes beside one
/// that was expected to be awaited loses by it; so each such mistake doubles how many in a row are asked for.
class WaitForecast {
 public:
  static constexpr int first_needed = 8;
  static constexpr int most_needed = 1 << 16;
  /// From the beginning of an access to the wait for it.
  static constexpr std::uint64_t soon_ns = 20'000;

  [[nodiscard]] bool at_once() const noexcept { return row_ >= needed_; }
  /// What happened to an access that a thread could have carried out.
  void note(bool awaited_at_once) noexcept {
    if (awaited_at_once) {
      row_ = std::min(row_ + 1, needed_);
      return;
    }
    if (at_once()) needed_ = std::min(2 * needed_, most_needed);
    row_ = 0;
  }

 private:
  int row_ = 0;
  int needed_ = first_needed;
};

}  // namespace fulmar::mpi
