// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/tcp/connect/endpoint.h"
#include "fabric/tcp/connect/interfaces.h"
#include "wire/tcp/tcp_address.h"

namespace fulmar::fabric::tcp {

/// An address pair to try for a peer.
struct Way {
  Endpoint to;
  std::optional<Endpoint> from;  ///< the local address to bind, if interfaces are selected
  unsigned rank = 0;             ///< likelihood class: small is likely
};

/// An address that cannot reach the peer, and why.
struct NoWay {
  std::string address;
  const char* reason;
};

/// Way::rank of link-local addresses, the first unlikely class.
inline constexpr unsigned link_local_rank = 9;

/// Limit of the list; the unlikeliest ones are left out.
inline constexpr std::size_t max_ways = 24;

struct Ways {
  std::vector<Way> list;  ///< the likeliest first
  std::vector<NoWay> left_out;
};

enum class Source : std::uint8_t {
  any,    ///< the kernel chooses the local address
  chosen  ///< only from the addresses in use
};

/// The addresses of this host.
struct Surroundings {
  wire::HostIdentity host;
  std::span<const LocalAddress> all;   ///< every address that it has
  std::span<const LocalAddress> used;  ///< those in use
  Source source = Source::any;
};

/// Orders the addresses of a peer by the likelihood that they reach it: its loopback on the same host, then a
/// common subnet, then routed addresses, tunnels, and last networks inside hosts (bridges of containers have
/// the same subnets everywhere), interfaces without a carrier, and link-local addresses. Leaves out what
/// cannot work: the loopback of another host, an address that this host has too (a connection would reach
/// this host), IPv6 without IPv6 here.
Ways ways_to(const wire::TcpAddresses& peer, const Surroundings& here);

}  // namespace fulmar::fabric::tcp
