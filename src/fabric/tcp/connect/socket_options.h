// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"

/// Detection of dead hosts that does not mistake busy ones.
///
/// An idle connection is probed by the kernel (keep-alive); a peer that answers nothing for
/// `dead_after_ms` is dead. For a connection with unacknowledged data the kernel needs a quarter of an
/// hour. TCP_USER_TIMEOUT would shorten that, but since Linux 5.11 it also ends a connection whose window
/// stays closed for so long, although its other side answers every probe: a rank that computes for ten
/// seconds while others send to it would be declared dead. So that option is set only during the
/// handshake, and `check_answers` reads the kernel's state instead.
namespace fulmar::fabric::tcp {

inline constexpr std::uint32_t dead_after_ms = 8000;

/// TCP_NODELAY, keep-alive (probes from 3 s of silence on, every 2 s, 3 of them), repetitions and
/// probes at most 2 s apart where the kernel can (Linux 6.15), and TCP_USER_TIMEOUT for the
/// handshake.
void prepare_socket(int socket, std::uint32_t handshake_ms) noexcept;
/// Removes the TCP_USER_TIMEOUT of the handshake.
void settle_socket(int socket) noexcept;

struct ProbeTime {
  std::uint64_t now_ns;
  bool is_late = false;  ///< longer than usual since the last check: the program computed
  std::uint64_t silent_since_ns =
      UINT64_MAX;  ///< the peer on other networks; UINT64_MAX: it is not
};

/// Fails (other) if the peer's host has acknowledged nothing for `after_ms` although data, or probes of a
/// closed window, were retransmitted: the host or the path to it is dead. Silence counts from `since_ns`,
/// when there was something to acknowledge; without retransmissions this is moved to the time at which the
/// kernel sent the oldest unacknowledged data. A late check cannot know whether the unacknowledged data
/// are the same as before: it counts from the last transmission. One system call; called twice a second on
/// a connection with unacknowledged data.
base::Error check_answers(int socket, std::uint32_t after_ms, const ProbeTime& time,
                          std::uint64_t& since_ns) noexcept;

/// Makes the next close of the socket send a reset at once, without waiting for acknowledgements: the other
/// side may be reachable although nothing from it arrives here.
void reset_at_close(int socket) noexcept;

}  // namespace fulmar::fabric::tcp
