// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/verbs/connection_info.h"

namespace fulmar::fabric::verbs {

/// One side of the exchange of cards (wire/verbs/connection_info.h), without a socket: bytes go in and come
/// out. Both sides do the same. Whoever speaks here has proven to belong to the job; what it says
/// is checked all the same.
class QpExchange {
 public:
  enum class State : std::uint8_t {
    waiting,   ///< for bytes: those of room()
    met,       ///< the card has come: connect the queue and call connected(), or give up
    done,      ///< both queues take packets, once outgoing() is empty
    nonsense,  ///< what came is no card, or not the peer's, or no word after it
  };

  /// Its own card is outgoing() at once.
  QpExchange(const wire::VerbsConnectionInfo& own, const wire::ProcessName& peer) noexcept;

  [[nodiscard]] State state() const noexcept { return state_; }
  /// The own queue takes packets and the peer is told so: it may send some from now on.
  [[nodiscard]] bool has_promised() const noexcept { return has_card_ && state_ != State::met; }
  [[nodiscard]] const wire::VerbsConnectionInfo& own() const noexcept { return own_; }
  /// Once `met`.
  [[nodiscard]] const wire::VerbsConnectionInfo& theirs() const noexcept { return theirs_; }

  /// Where the next bytes go; empty unless `waiting`. Never more than the exchange has.
  [[nodiscard]] std::span<std::byte> room() noexcept;
  /// The first `count` bytes of room() have been written.
  void received(std::size_t count) noexcept;
  /// Requires `met`: the own queue takes packets.
  void connected() noexcept;
  /// Bytes to send.
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept;
  void sent(std::size_t count) noexcept { out_begin_ += count; }

 private:
  wire::VerbsConnectionInfo own_;
  wire::VerbsConnectionInfo theirs_;
  wire::ProcessName peer_;
  State state_ = State::waiting;
  bool has_card_ = false;
  std::size_t filled_ = 0;
  std::size_t out_begin_ = 0;
  std::size_t out_end_ = 0;
  std::array<std::byte, wire::verbs_card_bytes> in_{};
  std::array<std::byte, wire::verbs_card_bytes + wire::verbs_ready_bytes> out_{};
};

}  // namespace fulmar::fabric::verbs
