// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"

/// What makes a dead peer noticed, and a busy one not.
///
/// An idle connection is probed by the kernel (keep-alive); a peer that answers nothing for
/// `dead_after_ms` is dead. Of a connection with unanswered data the kernel takes a quarter of an
/// hour. TCP_USER_TIMEOUT would shorten that, but since Linux 5.11 it also ends a connection whose
/// window stays closed for so long, although its other side answers every probe: a rank that
/// computes for ten seconds while others send to it would be taken for dead. So that option is set
/// only during the handshake, and `check_answers` asks the kernel what it knows instead.
namespace fulmar::fabric::tcp {

inline constexpr std::uint32_t dead_after_ms = 8000;

/// TCP_NODELAY, keep-alive (probes from 3 s of silence on, every 2 s, 3 of them), repetitions and
/// probes at most 2 s apart where the kernel can (Linux 6.15), and TCP_USER_TIMEOUT for the
/// handshake.
void prepare_socket(int socket, std::uint32_t handshake_ms) noexcept;
/// Takes the TCP_USER_TIMEOUT of the handshake away.
void settle_socket(int socket) noexcept;

struct Look {
  std::uint64_t now_ns;
  bool is_late = false;  ///< nobody has looked for longer than usual: the program computed
  std::uint64_t silent_since_ns = UINT64_MAX;  ///< the peer, when asked over other networks
};

/// Fails (other) if the peer's host has acknowledged nothing for `after_ms` although data, or
/// probes of a closed window, were sent again and again: it or the way to it is dead. Silence
/// counts from `since_ns` on, when there was something to acknowledge; while nothing had to be
/// repeated that is moved on to when the kernel would have sent what it would repeat now. A late
/// look cannot know whether what is unanswered is as old as what was: it takes what was sent last
/// for the first. One system call; worth it twice a second on a connection that has something to
/// send.
base::Error check_answers(int socket, std::uint32_t after_ms, const Look& look,
                          std::uint64_t& since_ns) noexcept;

/// The next close of the socket tells the other side at once, and does not wait for what it has not
/// acknowledged: it may be reached although nothing of it arrives here.
void reset_at_close(int socket) noexcept;

}  // namespace fulmar::fabric::tcp
