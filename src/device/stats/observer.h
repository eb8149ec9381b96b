// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "match/matcher.h"

namespace fulmar::device {

/// Something that a tool may want to hear of at the moment it happens.
struct Event {
  enum class Kind : std::uint8_t {
    unexpected,    ///< a message came before its receive; `amount` is its length
    rendezvous,    ///< a long send was announced; `amount` is its length
    streamed,      ///< a long receive is copied through the ring; `amount` is its length
    told_to_hold,  ///< a sender was told to keep its messages; `amount` is the memory in use
    told_to_go,    ///< and that it may send them now
    must_hold,     ///< a receiver told this process to keep its messages
    may_go,        ///< and that it may send them now
    slept,         ///< this process slept; `amount` is how long, in nanoseconds
  };

  Kind kind;
  match::Key key;  ///< the peer, and context and tag of a message
  std::uint64_t amount = 0;
};

/// Hears of happenings. Both functions are called with the engine's lock.
struct Observer {
  /// In the middle of whatever the device does: may ask for figures, must not start or complete
  /// anything.
  void (*note)(Observer&, const Event&) noexcept = nullptr;
  /// Between two looks at progress, after Device::defer: may do all that a caller of MPI may.
  void (*settle)(Observer&) noexcept = nullptr;
};

}  // namespace fulmar::device
