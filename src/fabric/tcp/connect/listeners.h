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

/// FULMAR_TCP_PORTS: "auto" (any that is free), or "20000-20100".
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  /// Fails (arg) naming what cannot be read.
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
  used_only,   ///< one for each address in use, so that nothing can be reached by another way
};

/// Listens, non-blocking. An address that cannot be listened on is left out; fails (other), saying
/// what was tried, if none can.
base::Result<Listening> listen_on(std::span<const LocalAddress> used, Reach reach, PortRange ports);

}  // namespace fulmar::fabric::tcp
