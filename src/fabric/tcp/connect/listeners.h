// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "fabric/tcp/connect/interfaces.h"

namespace fulmar::fabric::tcp {

/// FULMAR_TCP_PORTS: "auto" (any free port), or "20000-20100".
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  /// Fails (arg) with the invalid value.
  static base::Result<PortRange> parse(std::string_view text);
};

struct Listener {
  base::UniqueFd socket;
  std::uint16_t port = 0;
};

struct Listening {
  std::vector<Listener> sockets;
  std::vector<wire::TcpAddress> places;  ///< the addresses used, with the ports to connect to
};

enum class Reach : std::uint8_t {
  everywhere,  ///< one socket for IPv4 and one for IPv6, on all addresses
  used_only,   ///< one for each address in use, so that there is no access over others
};

/// Listens, non-blocking. An address that cannot be listened on is left out; if none is left it fails (other)
/// with a list of what was tried.
base::Result<Listening> listen_on(std::span<const LocalAddress> used, Reach reach, PortRange ports);

}  // namespace fulmar::fabric::tcp
