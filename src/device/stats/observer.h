// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "match/matcher.h"

namespace fulmar::device {

/// An event that a tool may observe when it happens.
struct Event {
  enum class Kind : std::uint8_t {
    unexpected,       ///< a message came before its receive; `amount` is its length
    rendezvous,       ///< a long send was announced; `amount` is its length
    streamed,         ///< a long receive is copied through the ring; `amount` is its length
    sender_held,      ///< `hold` was sent to a sender; `amount` is the memory in use
    sender_released,  ///< `release` was sent to it
    must_hold,        ///< a receiver has sent `hold` to this process
    may_go,           ///< and `release`
    slept,            ///< this process slept; `amount` is how long, in nanoseconds
  };

  Kind kind;
  match::Key key;  ///< the peer, and context and tag of a message
  std::uint64_t amount = 0;
};

/// Receives events. Both functions are called with the engine's lock.
struct Observer {
  /// Called in the middle of any action of the device: may read statistics, must not start or
  /// complete operations.
  void (*note)(Observer&, const Event&) noexcept = nullptr;
  /// Called between two progress calls, after Device::defer: may do all that a caller of MPI may.
  void (*settle)(Observer&) noexcept = nullptr;
};

}  // namespace fulmar::device
