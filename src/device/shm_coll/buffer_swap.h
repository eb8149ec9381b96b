// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/node/shm_area.h"

namespace fulmar::device {

/// Memory for the payloads that the two members of a collective area exchange, in each round one each way.
///
/// A line that another core has read is no longer the writer's (decision 0010), so who writes where
/// the other one has read fetches every line back first. Therefore a payload changes hands with its
/// memory: there is one part of it in the room of each member, and whoever has read a payload writes
/// its own next one there. Each line crosses once in a round, and a few pages serve for all.
///
/// A part belongs to one member or is on its way: with the slot that names it, it goes over to
/// the reader, who has it from the round after on. Nobody writes to what the other one reads, and
/// nobody waits for room. Who has no part, because its last payloads went another way than the
/// other's, places a payload as everybody else does.
class BufferSwap {
 public:
  /// Of a collective area with so many members and so many bytes of room for long payloads, which it takes a
  /// ninth of: 128 KiB fit into that of a whole stage. `self` has its own part.
  BufferSwap(std::size_t members, std::size_t long_bytes, int self) noexcept
      : part_bytes_(members == 2 ? static_cast<std::uint32_t>(long_bytes / 9 / 64 * 64) : 0),
        owned_(1U << (self & 1)) {}

  /// The longest payload, and the bytes of a part, which is at the end of a room. 0: there is none.
  [[nodiscard]] std::uint32_t part_bytes() const noexcept { return part_bytes_; }

  /// A round of payloads both ways begins.
  void begin() noexcept { began_ = true; }
  /// Whether the last round was such a one: the next one of any kind begins with `end`.
  [[nodiscard]] bool began() const noexcept { return began_; }
  /// The other member's slot of that round names such a place; this one has read what is there.
  void end(std::uint32_t place) noexcept {
    began_ = false;
    if (is_part(place)) owned_ |= 1U << member_of(place);
  }
  /// The other member posted no such round: what is on its way does not arrive.
  void give_up() noexcept { began_ = false; }

  /// A place for a payload of this round, for a slot. None: it does not fit, or no part is here.
  [[nodiscard]] std::optional<std::uint32_t> give(std::size_t bytes) noexcept {
    if (bytes > part_bytes_ || owned_ == 0) return std::nullopt;
    const std::uint32_t member = (owned_ & 1U) != 0 ? 0 : 1;
    owned_ &= ~(1U << member);
    return wire::swapped_place | member;
  }

  [[nodiscard]] static constexpr bool is_part(std::uint32_t place) noexcept {
    return (place & wire::swapped_place) != 0;
  }
  /// In whose room it is.
  [[nodiscard]] static constexpr std::uint32_t member_of(std::uint32_t place) noexcept {
    return place & 1U;
  }

 private:
  std::uint32_t part_bytes_;
  std::uint32_t owned_;  ///< bits: in whose rooms
  bool began_ = false;
};

}  // namespace fulmar::device
