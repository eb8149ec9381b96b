// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/socket_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

namespace fulmar::fabric::tcp {
namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;

// Of linux/tcp.h since 6.15; netinet/tcp.h does not have it yet.
constexpr int longest_repeat_interval_ms = 44;  // TCP_RTO_MAX_MS

void set(int socket, int level, int name, int value) {
  // Each is an improvement; a system without one still works.
  (void)::setsockopt(socket, level, name, &value, sizeof value);
}

}  // namespace

void prepare_socket(int socket, std::uint32_t handshake_ms) noexcept {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 3);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(socket, IPPROTO_TCP, longest_repeat_interval_ms, 2000);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(handshake_ms));
}

void settle_socket(int socket) noexcept { set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 0); }

base::Error check_answers(int socket, std::uint32_t after_ms, const ProbeTime& time,
                          std::uint64_t& since_ns) noexcept {
  // After a handshake that lost a packet the kernel starts with repetitions 3 s apart, so in nine
  // seconds there are two, and where it can (Linux 6.15) in eight. Probes of a closed window come
  // seldom once it is closed for long: one or two of them may be lost while the other side is well.
  // With a shorter timeout other networks reach the peer, so a mistake costs little.
  constexpr unsigned many_repetitions = 2;
  const unsigned many_probes = after_ms < dead_after_ms ? 4 : 5;
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return {};
  const std::uint64_t now_ns = time.now_ns;
  const bool has_repeated = info.tcpi_retransmits != 0 || info.tcpi_probes != 0;
  if (!has_repeated || time.is_late) {
    // A repetition counts as sent if it got as far as the cable; the time between two doubles.
    const std::uint64_t last_ns = has_repeated ? info.tcpi_last_data_sent * ns_per_ms : 0;
    const std::uint64_t waiting_ns = std::max(std::uint64_t{info.tcpi_rto} * 1000, last_ns);
    since_ns = std::max(since_ns, now_ns - std::min(now_ns, waiting_ns));
  }
  const std::uint64_t silent_ns = now_ns - std::min(since_ns, time.silent_since_ns);
  const bool repeating =
      info.tcpi_retransmits >= many_repetitions || info.tcpi_probes >= many_probes;
  const std::uint64_t silent_ms =
      std::min<std::uint64_t>(info.tcpi_last_ack_recv, silent_ns / ns_per_ms);
  if (!repeating || silent_ms < after_ms) return {};
  return base::failure(base::ErrorClass::other,
                       "the other host has answered nothing for %llu ms; is it alive, and the "
                       "network up?",
                       static_cast<unsigned long long>(silent_ms));
}

void reset_at_close(int socket) noexcept {
  const linger none{1, 0};
  (void)::setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

}  // namespace fulmar::fabric::tcp
