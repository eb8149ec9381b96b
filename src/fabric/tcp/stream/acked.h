// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"

/// Detection of a path that carries packets in one direction only.
///
/// If nothing that this host sends arrives, but what the other host sends does, the other host retransmits,
/// as it gets no acknowledgement. For the kernel each retransmission shows that the other host is alive, so
/// `check_answers` (socket_options.h) reports nothing. But no byte of this side is ever acknowledged.
namespace fulmar::fabric::tcp {

/// The state of a connection between two checks.
struct Acked {
  std::uint64_t bytes = 0;     ///< acknowledged by the other side
  std::uint64_t since_ns = 0;  ///< when that last changed; 0: nothing is unacknowledged
};

/// Fails (other) if the other side has room and has acknowledged no byte for `dead_after_ms`, although bytes
/// were retransmitted. One system call; called twice a second on a connection with unacknowledged bytes.
/// Never fails on kernels without the needed fields (before Linux 6.2).
base::Error check_acked(int socket, Acked& acked, std::uint64_t now_ns) noexcept;

}  // namespace fulmar::fabric::tcp
