// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "wire/node/shm_area.h"

namespace fulmar::device {

/// Allocates payloads of one collective area in a part of its staging buffer. Payloads are stored
/// one after the other, each contiguous and aligned to a cache line; the oldest is freed when no
/// member reads it any more. Positions are counted from the first lap on and never wrap.
class StagingRing {
 public:
  enum class Reuse : std::uint8_t {
    earliest,  ///< go back to the beginning whenever it is free: payloads stay in the writer's cache
    whole_ring,  ///< use all of it: they come out of the cache that the cores share
  };

  StagingRing(std::uint32_t begin, std::uint32_t bytes, Reuse reuse) noexcept
      : begin_(begin), bytes_(bytes), used_(std::min(bytes, first_used_bytes)), reuse_(reuse) {}

  /// The longest payload. With longer ones, the last payload and the next one might not fit
  /// together.
  [[nodiscard]] std::uint32_t largest() const noexcept {
    return bytes_ / 4 / alignment * alignment;
  }

  /// The place of a payload of `length` bytes, at most largest(), in round `round`. Payloads of
  /// rounds before `done` are free. Where the ring is full, `wait(r)` returns once those of rounds
  /// before r are free, too; r is at most the round before `round`.
  template <class Wait>
  std::uint32_t place(std::uint32_t length, std::uint64_t round, std::uint64_t done,
                      Wait&& wait) noexcept {
    forget(done);
    const std::uint64_t needed = aligned(length);
    use_at_least(needed);
    const std::uint64_t start = start_for(needed);
    while (!fits(start, needed)) {
      // Half of them at once: each wait may give up the processor.
      const Entry& middle = entries_[(oldest_ + (next_ - oldest_) / 2) % entries_.size()];
      const std::uint64_t free_from = middle.round + 1 < round ? middle.round + 1 : round - 1;
      wait(free_from);
      forget(free_from);
    }
    if (start / bytes_ != end_ / bytes_) [[unlikely]]
      count_lap();
    entries_[next_++ % entries_.size()] = {round, start};
    end_ = start + needed;
    return begin_ + static_cast<std::uint32_t>(start % bytes_);
  }

  /// Whether `place` would return without waiting.
  [[nodiscard]] bool can_place(std::uint32_t length, std::uint64_t done) noexcept {
    forget(done);
    const std::uint64_t needed = aligned(length);
    use_at_least(needed);
    return fits(start_for(needed), needed);
  }

 private:
  static constexpr std::uint32_t alignment = 64;
  static constexpr std::uint32_t first_used_bytes = 128U << 10;
  static constexpr std::uint32_t laps_before_more = 8;
  struct Entry {
    std::uint64_t round;
    std::uint64_t start;
  };

  static constexpr std::uint64_t aligned(std::uint32_t length) noexcept {
    return (std::uint64_t{length} + alignment - 1) / alignment * alignment;
  }
  /// Where the next payload begins.
  [[nodiscard]] std::uint64_t start_for(std::uint64_t needed) const noexcept {
    const std::uint64_t lap = (end_ / bytes_ + 1) * bytes_;
    const bool beyond = end_ % bytes_ + needed > used_;
    const bool next_lap = beyond || (reuse_ == Reuse::earliest && fits(lap, needed));
    return next_lap ? lap : end_;
  }
  void use_at_least(std::uint64_t needed) noexcept {
    if (4 * needed > used_) [[unlikely]] {
      used_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes_, 4 * needed));
    }
  }
  void count_lap() noexcept {
    if (++laps_ % laps_before_more == 0) used_ = std::min(bytes_, 2 * used_);
  }
  [[nodiscard]] bool fits(std::uint64_t start, std::uint64_t needed) const noexcept {
    return oldest_ == next_ || start + needed - entries_[oldest_ % entries_.size()].start <= bytes_;
  }
  void forget(std::uint64_t done) noexcept {
    while (oldest_ != next_ && entries_[oldest_ % entries_.size()].round < done) ++oldest_;
  }

  std::uint32_t begin_;
  std::uint32_t bytes_;
  std::uint32_t used_;  ///< of `bytes_`
  std::uint32_t laps_ = 0;
  Reuse reuse_;
  std::uint64_t end_ = 0;
  std::uint64_t oldest_ = 0;  ///< index of the oldest payload that may still be read
  std::uint64_t next_ = 0;
  std::array<Entry, wire::coll_slots_per_block> entries_{};
};

}  // namespace fulmar::device
