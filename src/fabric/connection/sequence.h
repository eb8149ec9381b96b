// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

namespace fulmar::fabric {

/// What one side of a pair sends, counted from 0 modulo 2^32: packets where they carry numbers, units
/// of a window where they do not (tcp). At most 2^31 are in flight.
class SendSequence {
 public:
  /// The number of the next one.
  [[nodiscard]] std::uint32_t next() const noexcept { return next_; }
  /// The peer has acknowledged all before this number.
  [[nodiscard]] std::uint32_t acknowledged() const noexcept { return acknowledged_; }
  [[nodiscard]] std::uint32_t in_flight() const noexcept { return next_ - acknowledged_; }
  void advance(std::uint32_t count = 1) noexcept { next_ += count; }
  /// The last one is not sent after all.
  void retract() noexcept { --next_; }

  /// The peer has acknowledged everything before `number`. False, without effect: there was no such packet,
  /// or more was acknowledged before (the connection is ordered).
  [[nodiscard]] bool acknowledge_in_order(std::uint32_t number) noexcept {
    if (number - acknowledged_ > in_flight()) return false;
    acknowledged_ = number;
    return true;
  }
  /// The same if an older acknowledgement may come later (without order, or over another rail): such a one
  /// has no effect. False: there was no such packet.
  [[nodiscard]] bool acknowledge(std::uint32_t number) noexcept {
    if (static_cast<std::int32_t>(next_ - number) < 0) return false;
    if (static_cast<std::int32_t>(number - acknowledged_) > 0) acknowledged_ = number;
    return true;
  }
  /// The peer has received so many more. False, without effect: they were not sent.
  [[nodiscard]] bool acknowledge_more(std::uint32_t count) noexcept {
    return count <= in_flight() && acknowledge_in_order(acknowledged_ + count);
  }

 private:
  std::uint32_t next_ = 0;
  std::uint32_t acknowledged_ = 0;
};

/// What was received from the peer, in the peer's numbers, and how much of it was acknowledged.
class ReceiveSequence {
 public:
  /// The number of the next one; the acknowledgement that every packet to the peer carries.
  [[nodiscard]] std::uint32_t next() const noexcept { return next_; }
  /// The distance of a number from the next one; less than 0: a duplicate.
  [[nodiscard]] std::int32_t ahead(std::uint32_t number) const noexcept {
    return static_cast<std::int32_t>(number - next_);
  }
  void advance(std::uint32_t count = 1) noexcept { next_ += count; }
  /// What has come and was not acknowledged.
  [[nodiscard]] std::uint32_t unacknowledged() const noexcept { return next_ - acknowledged_; }
  /// An acknowledgement of everything before `number` is being sent.
  void note_acknowledged(std::uint32_t number) noexcept { acknowledged_ = number; }
  /// An acknowledgement of so many more is being sent.
  void note_acknowledged_more(std::uint32_t count) noexcept { acknowledged_ += count; }

 private:
  std::uint32_t next_ = 0;
  std::uint32_t acknowledged_ = 0;
};

}  // namespace fulmar::fabric
