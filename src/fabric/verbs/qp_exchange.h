// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/verbs/connection_info.h"

namespace fulmar::fabric::verbs {

/// One side of the exchange of connection info (wire/verbs/connection_info.h), without a socket: a state
/// machine over bytes. Both sides do the same. The peer is authenticated, but its data are validated all
/// the same.
class QpExchange {
 public:
  enum class State : std::uint8_t {
    waiting,   ///< for bytes: those of room()
    received,  ///< the peer's info is here: connect the queue and call connected(), or give up
    done,      ///< both queues take packets, once outgoing() is empty
    invalid,   ///< not the info of this peer, or no `ready` after it
  };

  /// Its own info is outgoing() at once.
  QpExchange(const wire::VerbsConnectionInfo& own, const wire::ProcessName& peer) noexcept;

  [[nodiscard]] State state() const noexcept { return state_; }
  /// The own queue takes packets and the peer is informed of that: it may send from now on.
  [[nodiscard]] bool is_ready() const noexcept { return has_info_ && state_ != State::received; }
  [[nodiscard]] const wire::VerbsConnectionInfo& own() const noexcept { return own_; }
  /// Once `received`.
  [[nodiscard]] const wire::VerbsConnectionInfo& theirs() const noexcept { return theirs_; }

  /// Where the next bytes go; empty unless `waiting`. Never more than the exchange has.
  [[nodiscard]] std::span<std::byte> room() noexcept;
  /// The first `count` bytes of room() have been written.
  void received(std::size_t count) noexcept;
  /// Requires `received`: the own queue takes packets.
  void connected() noexcept;
  /// Bytes to send.
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept;
  void sent(std::size_t count) noexcept { out_begin_ += count; }

 private:
  wire::VerbsConnectionInfo own_;
  wire::VerbsConnectionInfo theirs_;
  wire::ProcessName peer_;
  State state_ = State::waiting;
  bool has_info_ = false;
  std::size_t filled_ = 0;
  std::size_t out_begin_ = 0;
  std::size_t out_end_ = 0;
  std::array<std::byte, wire::verbs_info_bytes> in_{};
  std::array<std::byte, wire::verbs_info_bytes + wire::verbs_ready_bytes> out_{};
};

}  // namespace fulmar::fabric::verbs
