// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/tcp/tcp_address.h"

/// Which networks between hosts are used at once (FULMAR_RAILS).
namespace fulmar::runtime {

/// A rail to open.
struct RailPlan {
  std::string network;               ///< tcp, verbs or ofi
  std::string place;                 ///< an interface or subnet, an adapter, a provider; empty: any
  std::string label;                 ///< see wire::BundleRail
  double bytes_per_second = 1.25e9;  ///< what is believed until it was measured

  bool operator==(const RailPlan&) const = default;
};

/// An adapter under tcp.
struct Nic {
  std::string interface;
  wire::TcpAddress address;               ///< with the bits of its subnet
  std::uint32_t megabits_per_second = 0;  ///< 0: not known
};

inline constexpr std::size_t most_automatic_rails = 4;

/// Reads a list like "tcp:eth0+tcp:eth1"; of each network the first rail has its name as its label.
/// Fails (arg) with a text that names the invalid item.
base::Result<std::vector<RailPlan>> parse_rails(std::string_view text);

/// Rails over all adapters that are worth it: at least a quarter as fast as the fastest one, each
/// in a subnet that no other one is in; the lowest subnets first, so that hosts agree. Fewer than
/// two make no rails: then the answer is empty.
std::vector<RailPlan> rails_over(std::span<const Nic> nics);

/// The adapters of this host that FULMAR_TCP_INTERFACES (`interfaces`) takes: neither loopback nor
/// bridge, tunnel, or without a carrier. Of several addresses of one the first counts. Fails (arg,
/// other) as tcp::local_addresses and tcp::InterfaceChoice::parse do.
base::Result<std::vector<Nic>> own_nics(std::string_view interfaces);

}  // namespace fulmar::runtime
