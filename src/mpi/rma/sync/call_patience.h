// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>

namespace fulmar::mpi {

/// How often operations on the memory of a rank are tried as calls (node_calls.h). A call that the rank
/// does not take costs microseconds, so after a miss some are not tried: two, and twice as many after
/// each further miss in a row.
///
/// A rank that computes is tried in vain, which takes 4 us, in one of 129 operations of 1.4 us or more by
/// the kernel: some 2 %. Trying more rarely costs more: a rank that has come back into MPI is five times as
/// fast.
///
/// A rank that sleeps in MPI is woken by a miss. It then polls for some 60 us before it yields or sleeps
/// again, and the next try has to come within that time, or it is in vain, too, and so on for ever:
/// operations by the kernel take 1.4 to 4 us each.
class CallPatience {
 public:
  static constexpr unsigned most_skips = 128;
  static constexpr unsigned most_skips_asleep = 8;

  /// Whether the next operation is worth a try.
  [[nodiscard]] bool tries() noexcept {
    if (skips_ == 0) return true;
    --skips_;
    return false;
  }
  void hit() noexcept { next_ = first_skips; }
  /// `woken`: the rank was asleep.
  void miss(bool woken) noexcept {
    if (woken) next_ = std::min<std::uint16_t>(next_, most_skips_asleep);
    skips_ = next_;
    next_ = static_cast<std::uint16_t>(std::min(2U * next_, most_skips));
  }

 private:
  static constexpr std::uint16_t first_skips = 2;
  std::uint16_t skips_ = 0;           ///< operations that are not tried
  std::uint16_t next_ = first_skips;  ///< the same after the next miss
};

}  // namespace fulmar::mpi
