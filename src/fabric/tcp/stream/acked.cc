// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/stream/acked.h"

#include <linux/tcp.h>  // netinet/tcp.h has not all of tcp_info
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

#include "fabric/tcp/connect/socket_options.h"

namespace fulmar::fabric::tcp {

base::Error check_acked(int socket, Acked& acked, std::uint64_t now_ns) noexcept {
  // In eight seconds there are more, unless the kernel began with long pauses.
  constexpr unsigned many_repetitions = 3;
  constexpr std::uint64_t ms = 1'000'000;
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return {};
  if (bytes < offsetof(tcp_info, tcpi_snd_wnd) + sizeof info.tcpi_snd_wnd) return {};
  // A closed window is that of a process which reads nothing: its host lives.
  if (acked.since_ns == 0 || info.tcpi_bytes_acked != acked.bytes || info.tcpi_snd_wnd == 0) {
    acked = {info.tcpi_bytes_acked, now_ns};
    return {};
  }
  const std::uint64_t waited_ms = (now_ns - acked.since_ns) / ms;
  if (info.tcpi_retransmits < many_repetitions || waited_ms < dead_after_ms) return {};
  return base::failure(base::ErrorClass::other,
                       "the other host can be heard, but answered nothing for %llu ms to what was "
                       "sent again and again; do packets go through in both directions?",
                       static_cast<unsigned long long>(waited_ms));
}

}  // namespace fulmar::fabric::tcp
