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

/// A way to reach a peer.
struct Way {
  Endpoint to;
  std::optional<Endpoint> from;  ///< an own address to leave from, where interfaces are chosen
  unsigned rank = 0;             ///< its place in the order of likeliness: small is likely
};

/// An address that cannot lead to the peer, and why.
struct NoWay {
  std::string address;
  const char* reason;
};

/// Way::rank of link-local addresses, from which on few hope is left.
inline constexpr unsigned link_local_rank = 9;

/// The unlikeliest beyond are left out.
inline constexpr std::size_t max_ways = 24;

struct Ways {
  std::vector<Way> list;  ///< the likeliest first
  std::vector<NoWay> left_out;
};

enum class Source : std::uint8_t {
  any,    ///< the kernel chooses where a connection leaves
  chosen  ///< only from the addresses in use
};

/// What this host knows about itself.
struct Surroundings {
  wire::HostIdentity host;
  std::span<const LocalAddress> all;   ///< every address that it has
  std::span<const LocalAddress> used;  ///< those in use
  Source source = Source::any;
};

/// Orders the addresses of a peer by how likely they lead to it: its loopback on the same host,
/// then a subnet that both are in, then what has to be routed, tunnels, and last networks inside
/// hosts (bridges of containers have the same subnets everywhere), interfaces without a carrier,
/// and link-local addresses. Leaves out what cannot work: the loopback of another host, an address
/// that this host has too (a connection would reach this host), IPv6 without IPv6 here.
Ways ways_to(const wire::TcpAddresses& peer, const Surroundings& here);

}  // namespace fulmar::fabric::tcp
