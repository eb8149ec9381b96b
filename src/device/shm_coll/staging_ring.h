// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "wire/node/shm_area.h"

namespace fulmar::device {

/// Places for the payloads of one collective area in a part of its room. Payloads lie one after the other, each in
/// one piece and aligned to a cache line; the place of the oldest is used again when nobody reads
/// it any more. Bytes are counted from the first lap on and never wrap.
class StagingRing {
 public:
  enum class Habit : std::uint8_t {
    stay_warm,  ///< go back to the beginning whenever it is free: payloads stay in the writer's cache
    go_round,  ///< use all of it: they come out of the cache that the cores share
  };

  StagingRing(std::uint32_t begin, std::uint32_t bytes, Habit habit) noexcept
      : begin_(begin), bytes_(bytes), used_(std::min(bytes, first_used_bytes)), habit_(habit) {}

  /// With longer ones, the last payload and the next one might not fit together.
  [[nodiscard]] std::uint32_t largest() const noexcept {
    return bytes_ / 4 / alignment * alignment;
  }

  /// The place of a payload of `length` bytes, at most largest(), in round `round`. Nobody reads payloads
  /// of rounds before `done`. Where the ring is full, `wait(r)` returns when nobody reads payloads of
  /// rounds before r; r is at most the round before `round`.
  template <class Wait>
  std::uint32_t place(std::uint32_t length, std::uint64_t round, std::uint64_t done,
                      Wait&& wait) noexcept {
    forget(done);
    const std::uint64_t room = aligned(length);
    use_at_least(room);
    const std::uint64_t start = start_for(room);
    while (!fits(start, room)) {
      // Half of them at once: who waits for others gives its processor away.
      const Text& middle = texts_[(oldest_ + (next_ - oldest_) / 2) % texts_.size()];
      const std::uint64_t free_from = middle.round + 1 < round ? middle.round + 1 : round - 1;
      wait(free_from);
      forget(free_from);
    }
    if (start / bytes_ != end_ / bytes_) [[unlikely]]
      count_lap();
    texts_[next_++ % texts_.size()] = {round, start};
    end_ = start + room;
    return begin_ + static_cast<std::uint32_t>(start % bytes_);
  }

  /// Whether `place` would return without waiting.
  [[nodiscard]] bool has_room(std::uint32_t length, std::uint64_t done) noexcept {
    forget(done);
    const std::uint64_t room = aligned(length);
    use_at_least(room);
    return fits(start_for(room), room);
  }

 private:
  static constexpr std::uint32_t alignment = 64;
  static constexpr std::uint32_t first_used_bytes = 128U << 10;
  static constexpr std::uint32_t laps_before_more = 8;
  struct Text {
    std::uint64_t round;
    std::uint64_t start;
  };

  static constexpr std::uint64_t aligned(std::uint32_t length) noexcept {
    return (std::uint64_t{length} + alignment - 1) / alignment * alignment;
  }
  /// Where the next payload begins.
  [[nodiscard]] std::uint64_t start_for(std::uint64_t room) const noexcept {
    const std::uint64_t lap = (end_ / bytes_ + 1) * bytes_;
    const bool beyond = end_ % bytes_ + room > used_;
    const bool next_lap = beyond || (habit_ == Habit::stay_warm && fits(lap, room));
    return next_lap ? lap : end_;
  }
  void use_at_least(std::uint64_t room) noexcept {
    if (4 * room > used_) [[unlikely]] {
      used_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes_, 4 * room));
    }
  }
  void count_lap() noexcept {
    if (++laps_ % laps_before_more == 0) used_ = std::min(bytes_, 2 * used_);
  }
  [[nodiscard]] bool fits(std::uint64_t start, std::uint64_t room) const noexcept {
    return oldest_ == next_ || start + room - texts_[oldest_ % texts_.size()].start <= bytes_;
  }
  void forget(std::uint64_t done) noexcept {
    while (oldest_ != next_ && texts_[oldest_ % texts_.size()].round < done) ++oldest_;
  }

  std::uint32_t begin_;
  std::uint32_t bytes_;
  std::uint32_t used_;  ///< of `bytes_`
  std::uint32_t laps_ = 0;
  Habit habit_;
  std::uint64_t end_ = 0;
  std::uint64_t oldest_ = 0;  ///< of the payloads that somebody may read
  std::uint64_t next_ = 0;
  std::array<Text, wire::coll_slots_per_block> texts_{};
};

}  // namespace fulmar::device
