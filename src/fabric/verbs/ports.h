// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "wire/verbs/verbs_address.h"

/// Which port of which adapter is used, and under which of its addresses. Nothing has to be set:
/// the fastest port that is up, and on Ethernet the address that other hosts are likeliest to
/// reach. Pure: what there is comes as a table.
namespace fulmar::fabric::verbs {

using Gid = std::array<std::byte, 16>;

/// An entry of the GID table of a port; its kind selects the packet format on the wire.
struct GidInfo {
  enum class Kind : std::uint8_t { infiniband, roce_v1, roce_v2 };
  unsigned index = 0;  ///< in the port's table
  Gid gid{};
  Kind kind = Kind::infiniband;
};

struct PortInfo {
  std::string device;
  unsigned port = 1;  ///< from 1 on
  std::string state;  ///< in words, if the port is not up
  bool up = false;
  std::string transport;  ///< empty: InfiniBand or RoCE; others are not supported
  wire::VerbsLink link = wire::VerbsLink::ethernet;
  std::uint16_t lid = 0;
  std::uint64_t megabits = 0;  ///< a second
  std::vector<GidInfo> gids;
};

struct PortChoice {
  std::size_t port = 0;        ///< index in the table
  std::optional<GidInfo> gid;  ///< none: InfiniBand within a subnet
};

/// `wish`: FULMAR_VERBS_DEVICE, the name of a device, optionally with ":" and the number of a port;
/// empty: any. Fails (other) with a text that lists the ports and why each is unsuitable; (arg) for a
/// value that cannot be parsed or names an unknown device or port.
[[nodiscard]] base::Result<PortChoice> choose_port(std::span<const PortInfo> ports,
                                                   const std::string& wish);

/// "mlx5_0:1 (up), mlx5_1:1 (down)"; "none" where there is nothing.
[[nodiscard]] std::string text_of(std::span<const PortInfo> ports);

}  // namespace fulmar::fabric::verbs
