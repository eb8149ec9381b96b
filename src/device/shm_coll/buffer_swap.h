// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/node/shm_area.h"

namespace fulmar::device {

/// Memory for the payloads that the two members of a collective area exchange, in each round one
/// each way.
///
/// A line that another core has read is no longer exclusive to its writer (decision 0010), so a
/// member that overwrites what the other has read fetches every line back first. Therefore
/// ownership of the memory passes with the payload: there is one part in the staging buffer of each
/// member, and the reader of a payload writes its own next payload to the same part. Each line
/// crosses once in a round, and a few pages serve all rounds.
///
/// A part is owned by one member or in transit: posting the slot that names it transfers it to the
/// reader, who owns it from the next round on. No member writes to memory that the other reads, and
/// neither waits for space. A member that owns no part, because its last payloads took another path
/// than the other's, places a payload in its StagingRing.
class BufferSwap {
 public:
  /// For an area with `members` members and `long_bytes` bytes of staging for long payloads, a
  /// ninth of which becomes a part: 128 KiB fit into one of a full staging buffer. `self` starts
  /// with its own part.
  BufferSwap(std::size_t members, std::size_t long_bytes, int self) noexcept
      : part_bytes_(members == 2 ? static_cast<std::uint32_t>(long_bytes / 9 / 64 * 64) : 0),
        owned_(1U << (self & 1)) {}

  /// Bytes of a part, the longest payload that fits; a part is at the end of a staging buffer. 0:
  /// none.
  [[nodiscard]] std::uint32_t part_bytes() const noexcept { return part_bytes_; }

  /// Begins a round with payloads in both directions.
  void begin() noexcept { began_ = true; }
  /// Whether the last round was an exchange: then `end` or `give_up` precedes the next round.
  [[nodiscard]] bool began() const noexcept { return began_; }
  /// The other member's slot of that round holds `place`, and this member has read the payload.
  void end(std::uint32_t place) noexcept {
    began_ = false;
    if (is_part(place)) owned_ |= 1U << member_of(place);
  }
  /// The other member posted no such round: no part comes back.
  void give_up() noexcept { began_ = false; }

  /// The place of a payload of this round, for the slot. None: too long, or this member owns no
  /// part.
  [[nodiscard]] std::optional<std::uint32_t> give(std::size_t bytes) noexcept {
    if (bytes > part_bytes_ || owned_ == 0) return std::nullopt;
    const std::uint32_t member = (owned_ & 1U) != 0 ? 0 : 1;
    owned_ &= ~(1U << member);
    return wire::swapped_place | member;
  }

  [[nodiscard]] static constexpr bool is_part(std::uint32_t place) noexcept {
    return (place & wire::swapped_place) != 0;
  }
  /// The member whose staging buffer contains it.
  [[nodiscard]] static constexpr std::uint32_t member_of(std::uint32_t place) noexcept {
    return place & 1U;
  }

 private:
  std::uint32_t part_bytes_;
  std::uint32_t owned_;  ///< bits: members whose part this one owns
  bool began_ = false;
};

}  // namespace fulmar::device
