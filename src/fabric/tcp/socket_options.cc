// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/socket_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace fulmar::fabric::tcp {
namespace {

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
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(handshake_ms));
}

void settle_socket(int socket) noexcept { set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 0); }

base::Error check_answers(int socket) noexcept {
  // Five repetitions take more than six seconds, because the kernel doubles the time between them.
  constexpr unsigned many = 5;
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return {};
  const bool repeating = info.tcpi_retransmits >= many || info.tcpi_probes >= many;
  if (!repeating || info.tcpi_last_ack_recv < dead_after_ms) return {};
  return base::failure(base::ErrorClass::other,
                       "the other host has answered nothing for %u ms; is it alive, and the "
                       "network up?",
                       info.tcpi_last_ack_recv);
}

}  // namespace fulmar::fabric::tcp
