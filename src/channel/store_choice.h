// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "base/copy.h"

/// Chooses by measurement between stores through the cache and past it for long bodies.
///
/// A body is written to memory that the receiver has read before, so its cache still has the lines.
/// An ordinary store first takes each line away from there, and a core has only some ten such stores
/// in flight. Where the cores are near each other (50 to 60 ns a line) that makes 10 GB/s and more;
/// where they are far (200 to 350 ns: other dies, other sockets, and a virtual machine's host moves
/// cores at any time) it makes 2 GB/s, however long the message. The string instruction of newer
/// processors of AMD makes 60 and 28 GB/s (`base::stores_to_shared`). Non-temporal stores do not
/// wait for the other core either: 6 to 17 GB/s, near or far, but the receiver then reads from
/// memory.
///
/// So the writer times a body now and then. After three slow ones in a row (4 GB/s) it uses
/// non-temporal stores; after a while a few bodies go through the cache again, as a trial. Near,
/// non-temporal stores cost little, so trials may be rare; far, each costs as much as four bodies.
namespace fulmar::channel {

/// Of one writer and the memory that it fills. Not for threads at the same time.
class StoreChoice {
 public:
  /// `through` is the way through the cache.
  explicit StoreChoice(base::StoreKind through = base::stores_to_shared()) noexcept
      : through_(through), stores_(through) {}

  /// Shorter bodies use ordinary stores: a write past the cache takes at least as long as 16 lines.
  static constexpr std::size_t least_bytes = 1024;

  /// For a body of `bytes` bytes, at least `least_bytes`: `copy(StoreKind)` writes it.
  template <class Copy>
  void write(std::size_t bytes, Copy&& copy) noexcept {
    write(bytes, std::forward<Copy>(copy), base::now_ns);
  }
  /// The same with another clock, of nanoseconds.
  template <class Copy, class Clock>
  void write(std::size_t bytes, Copy&& copy, Clock&& clock) noexcept {
    if (--until_timed_ != 0) [[likely]]
      return copy(stores_);
    const std::uint64_t begin = clock();
    copy(through_);
    // The core's own buffers hold 2 KiB of stores that are not done yet.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    note(is_slow(bytes, clock() - begin));
  }

  [[nodiscard]] base::StoreKind stores() const noexcept { return stores_; }
  /// Whether a copy through the cache that took so long would have been faster past it.
  static constexpr bool is_slow(std::size_t bytes, std::uint64_t ns) noexcept {
    return ns > 200 + bytes / 4;  // less than 4 GB/s
  }

 private:
  static constexpr std::uint32_t between_times = 16;
  static constexpr std::uint32_t in_a_row = 3;
  static constexpr std::uint32_t first_trial = 64;
  static constexpr std::uint32_t last_trial = 512;

  void note(bool slow) noexcept {
    if (slow != (stores_ == base::StoreKind::non_temporal)) {
      until_timed_ = 1;  // is it so of the next ones, too?
      if (++against_ < in_a_row) return;
      stores_ = slow ? base::StoreKind::non_temporal : through_;
      trial_after_ = first_trial;
    } else if (slow) {
      trial_after_ = std::min(2 * trial_after_, last_trial);
    }
    against_ = 0;
    until_timed_ = stores_ == base::StoreKind::non_temporal ? trial_after_ : between_times;
  }

  base::StoreKind through_;
  base::StoreKind stores_;
  std::uint32_t until_timed_ = 4;
  std::uint32_t against_ = 0;  ///< timed bodies in a row that speak against `stores_`
  std::uint32_t trial_after_ = first_trial;
};

}  // namespace fulmar::channel
