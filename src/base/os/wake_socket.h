// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/os/fd.h"

namespace fulmar::base {

/// A descriptor on which one process sleeps among other descriptors, and which processes of the
/// same network name space can ring by a number.
///
/// It is a Unix datagram socket with a name that the kernel picks in the abstract name space, so
/// there is no file and nothing has to be exchanged. Datagrams are dropped unread: another
/// process that guesses the number can only end a sleep early.
///
/// Thread rule: `ring` from any thread; the others from one at a time.
class WakeSocket {
 public:
  /// Fails (other) where the system has no descriptor or no name left.
  [[nodiscard]] static Result<WakeSocket> open();

  /// Readable after a ring.
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  /// The number by which others ring it; never 0.
  [[nodiscard]] std::uint32_t name() const noexcept { return name_; }
  /// Rings the socket with this number; no effect if there is none, or if it was rung already.
  void ring(std::uint32_t name) const noexcept;
  /// Makes the descriptor unreadable until the next ring.
  void drain() const noexcept;

 private:
  WakeSocket(UniqueFd socket, std::uint32_t name) noexcept
      : socket_(std::move(socket)), name_(name) {}

  UniqueFd socket_;
  std::uint32_t name_;
};

}  // namespace fulmar::base
