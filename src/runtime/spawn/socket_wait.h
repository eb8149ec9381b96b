// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <poll.h>

#include <cerrno>
#include <cstdint>

#include "base/clock.h"

namespace fulmar::runtime {

inline constexpr std::uint64_t ns_per_ms = 1'000'000;

/// Waits for `events` (of poll) of a socket until a time of base::now_ns(). False: it is over. Signals of the program do
/// not make it longer. True also where poll fails: the call that follows says what is wrong.
[[nodiscard]] inline bool wait_for_socket(int socket, short events, std::uint64_t end_ns) {
  while (true) {
    const std::uint64_t now = base::now_ns();
    if (now >= end_ns) return false;
    pollfd entry{socket, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>((end_ns - now) / ns_per_ms + 1));
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
}

}  // namespace fulmar::runtime
