// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace fulmar::device {

/// How the bytes of a long message come, where there is a choice.
enum class LongCopy : std::uint8_t {
  automatic,
  share,   ///< single copies through the kernel, by both sides
  stream,  ///< two copies through the ring, at the same time
};

/// Finds out which way is faster on this machine.
///
/// A single copy through the kernel moves each byte once but pays for every page that it pins; a
/// copy through shared memory moves it twice, on two cores at a time, out of caches. Which wins
/// depends on the processor (seen: 27 against 31 GB/s on one kind, 41 against 20 on another), so
/// the receiver times its transfers: the first of each size class take turns, later ones go the
/// faster way, and now and then one tries the other way again. Times decay, so that one bad moment
/// is forgotten.
class CopyChoice {
 public:
  explicit CopyChoice(LongCopy fixed) noexcept : fixed_(fixed) {}

  /// Changes the way; what was measured stays.
  void fix(LongCopy way) noexcept { fixed_ = way; }

  [[nodiscard]] LongCopy pick(std::uint64_t length) noexcept {
    if (fixed_ != LongCopy::automatic) return fixed_;
    Class& one = classes_[index(length)];
    const std::uint32_t turn = one.turns++;
    const LongCopy faster = one.share < one.stream ? LongCopy::share : LongCopy::stream;
    if (turn < first_trials) return turn % 2 == 0 ? LongCopy::share : LongCopy::stream;
    if (turn % retry_interval != 0) return faster;
    return faster == LongCopy::share ? LongCopy::stream : LongCopy::share;
  }

  /// A transfer took so long from match to completion.
  void record(LongCopy way, std::uint64_t length, std::uint64_t ns) noexcept {
    if (way == LongCopy::automatic) return;
    Class& one = classes_[index(length)];
    float& best = way == LongCopy::share ? one.share : one.stream;
    const float sample = static_cast<float>(ns) / static_cast<float>(length);
    best = best == 0 ? sample : std::min(best * decay, sample);
  }

  /// Nanoseconds a byte as far as known, 0 if not; for reports.
  [[nodiscard]] float cost(LongCopy way, std::uint64_t length) const noexcept {
    const Class& one = classes_[index(length)];
    return way == LongCopy::share ? one.share : one.stream;
  }

 private:
  static constexpr std::uint32_t first_trials = 8;
  static constexpr std::uint32_t retry_interval = 256;
  static constexpr float decay = 1.01F;

  struct Class {
    float share = 0;
    float stream = 0;
    std::uint32_t turns = 0;
  };
  static std::size_t index(std::uint64_t length) noexcept {
    return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(length)), 31);
  }

  LongCopy fixed_;
  std::array<Class, 32> classes_{};
};

}  // namespace fulmar::device
