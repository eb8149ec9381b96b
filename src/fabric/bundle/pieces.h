// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/bundle/bundle_packet.h"
#include "wire/cell.h"

/// Packets in place, called pieces here: those sent to a peer and not acknowledged, and those being
/// received.
namespace fulmar::fabric::bundle {

/// A piece that was sent, with all that is needed to send it again.
struct OutPiece {
  enum class State : std::uint8_t {
    none,
    under_way,  ///< on `path`
    stranded,   ///< `path` is down; to be sent over another one
    arrived,    ///< acknowledged; its rail may still hold the memory
  };
  State state = State::none;
  bool held = false;  ///< a rail still reads the memory
  std::uint8_t path = 0;
  std::uint8_t prefix_bytes = 0;
  std::array<std::byte, wire::bundle_max_prefix_bytes> prefix{};
  wire::Envelope envelope;  ///< the sender's
  std::uint64_t token = 0;  ///< the sender's
  std::uint64_t sent_ns = 0;
  std::vector<iovec> pieces;
};

/// The pieces under way to a peer: a window of numbers.
class OutPieces {
 public:
  [[nodiscard]] bool empty() const noexcept { return base_ == next_; }
  [[nodiscard]] bool has_room() const noexcept { return next_ - base_ < wire::bundle_pieces; }
  [[nodiscard]] std::uint32_t base() const noexcept { return base_; }
  [[nodiscard]] std::uint32_t next_number() const noexcept { return next_; }
  [[nodiscard]] bool has(std::uint32_t number) const noexcept {
    return number - base_ < next_ - base_;
  }
  [[nodiscard]] OutPiece& at(std::uint32_t number) noexcept {
    return pieces_[number % wire::bundle_pieces];
  }
  /// The next one is there. Requires has_room.
  OutPiece& add() noexcept { return at(next_++); }
  /// Moves the begin of the window over those that are over.
  void shrink() noexcept {
    while (base_ != next_ && at(base_).state == OutPiece::State::none) ++base_;
  }

 private:
  std::uint32_t base_ = 0;
  std::uint32_t next_ = 0;
  std::array<OutPiece, wire::bundle_pieces> pieces_;
};

/// Which pieces of a peer have arrived. A piece that arrives a second time is delivered only from where
/// the first stopped, so no byte is delivered twice.
class InPieces {
 public:
  enum class Standing : std::uint8_t {
    wanted,
    complete,    ///< it has come before
    impossible,  ///< its sender cannot have sent it
  };
  [[nodiscard]] Standing standing(std::uint32_t number) const noexcept {
    const std::uint32_t ahead = number - base_;
    if (ahead >= wire::bundle_pieces) {
      return static_cast<std::int32_t>(ahead) < 0 ? Standing::complete : Standing::impossible;
    }
    return (complete_ >> ahead & 1) != 0 ? Standing::complete : Standing::wanted;
  }
  /// Payload bytes of this wanted piece, from its begin, that were delivered.
  [[nodiscard]] std::uint64_t delivered(std::uint32_t number) const noexcept {
    return delivered_[number % wire::bundle_pieces];
  }
  void set_delivered(std::uint32_t number, std::uint64_t bytes) noexcept {
    delivered_[number % wire::bundle_pieces] = bytes;
  }
  /// All of this wanted piece has come.
  void finish(std::uint32_t number) noexcept {
    complete_ |= std::uint64_t{1} << (number - base_);
    for (; (complete_ & 1) != 0; complete_ >>= 1) delivered_[base_++ % wire::bundle_pieces] = 0;
  }
  [[nodiscard]] wire::BundleAck ack() const noexcept { return {base_, 0, complete_}; }

 private:
  std::uint32_t base_ = 0;
  std::uint64_t complete_ = 0;  ///< bit i: base_ + i
  std::array<std::uint64_t, wire::bundle_pieces> delivered_{};
};

}  // namespace fulmar::fabric::bundle
