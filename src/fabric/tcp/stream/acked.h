// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"

/// A way that carries packets in one direction only.
///
/// Where nothing that this host sends arrives, but what the other sends does, the other repeats
/// what it has sent, as it hears of no arrival. Each repetition is an answer for the kernel: the
/// other host is alive, and `check_answers` (socket_options.h) finds nothing. But no byte of
/// this side is ever acknowledged.
namespace fulmar::fabric::tcp {

/// What is remembered of a connection between two looks at it.
struct Acked {
  std::uint64_t bytes = 0;     ///< that the other side has acknowledged
  std::uint64_t since_ns = 0;  ///< when that was seen to change; 0: nothing is waited for
};

/// Fails (other) if the other side has room and has acknowledged no byte for `dead_after_ms`,
/// although bytes were repeated again and again. One system call; worth it twice a second on a
/// connection whose bytes are not all acknowledged. Without an answer where the kernel does not
/// tell what it needs (before Linux 6.2).
base::Error check_acked(int socket, Acked& acked, std::uint64_t now_ns) noexcept;

}  // namespace fulmar::fabric::tcp
