// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace fulmar::mpi {

/// This process's view of the context ids that all members of a communicator have in common
/// (decision 0042). Large communicators use them, so that nobody has to know an id for each member.
///
/// The ids are divided into slots. The making of a communicator uses one slot, which its tag
/// determines, so it is the same in all members. Each member offers the lowest id of the slot that
/// it has never used; the highest offer is free in all of them. Ids of a slot only go up and are
/// never used again. A process that takes part in two such agreements on one slot at a time
/// could get the same id from both: it says so in its second offer (`Offer::shared`), and the
/// members of that one then exchange their own ids (ContextIds) instead. The same happens
/// where a slot is used up, so communicators can always be made.
///
/// Thread rule: the lock of the library.
class CommonContexts {
 public:
  /// Ids are `first` <= id < `limit`, and multiples of `step` as those of ContextIds, which are
  /// lower.
  static constexpr std::uint32_t first = 0x40000000;
  static constexpr std::uint32_t limit = 0x80000000;
  static constexpr std::uint32_t step = 8;
  static constexpr std::uint32_t slots = 64;
  static constexpr std::uint32_t most_indexes = (limit - first) / (slots * step);

  /// Each slot has `indexes` ids, at most `most_indexes`.
  explicit CommonContexts(std::uint32_t indexes = most_indexes) noexcept : indexes_(indexes) {}

  [[nodiscard]] static constexpr std::uint32_t slot_of(int tag) noexcept {
    return static_cast<std::uint32_t>(tag) % slots;
  }
  [[nodiscard]] static constexpr std::uint32_t id_of(std::uint32_t slot,
                                                     std::uint32_t index) noexcept {
    return first + (index * slots + slot) * step;
  }

  struct Offer {
    std::uint32_t index = 0;  ///< in the slot: it and all above are unused here
    bool shared = false;      ///< another agreement on this slot has not ended
  };
  /// The start of an agreement; `end` has to follow.
  [[nodiscard]] Offer offer(std::uint32_t slot) noexcept {
    return {next_[slot], active_[slot]++ != 0};
  }
  /// Whether an index that was agreed on exists; the same in all members.
  [[nodiscard]] bool has(std::uint32_t index) const noexcept { return index < indexes_; }
  /// The end of an agreement on an index that `has`, for members and for others who took part.
  void end(std::uint32_t slot, std::uint32_t agreed) noexcept {
    next_[slot] = std::max(next_[slot], agreed + 1);
    --active_[slot];
  }
  /// The end of an agreement on none.
  void end(std::uint32_t slot) noexcept { --active_[slot]; }

  /// Whether an id could be that of a communicator which other members have made already, and this
  /// process has not.
  [[nodiscard]] bool is_ahead(std::uint32_t id) const noexcept {
    if (id < first || id >= limit) return false;
    const std::uint32_t place = (id - first) / step;
    return active_[place % slots] != 0 && place / slots >= next_[place % slots];
  }

 private:
  std::uint32_t indexes_;
  std::array<std::uint32_t, slots> next_{};
  std::array<std::uint32_t, slots> active_{};
};

}  // namespace fulmar::mpi
