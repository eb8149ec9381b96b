// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/tcp/tcp_address.h"

/// The name of a port (MPI 5.0 section 11.9.2): what a program passes to another one, so text,
/// without blanks and without characters that launchers give a meaning to:
///
///     fulmar1/0123456789abcdef0123456789abcdef/10.0.0.1:34567,[fd00::1]:34568
///
/// It has the port's secret, which both sides of a connection prove to know (port_handshake.h), and
/// the addresses at which the port listens, the likeliest first. A process that knows the name can
/// connect; one that has only observed a connection cannot.
namespace fulmar::wire {

using PortSecret = std::array<std::uint8_t, 16>;

struct PortName {
  PortSecret secret{};
  std::vector<TcpAddress> places;  ///< only address, family, scope and port; 1 to max_port_places

  bool operator==(const PortName&) const = default;
};

inline constexpr std::size_t max_port_places = 16;
/// MPI_MAX_PORT_NAME without the zero at the end.
inline constexpr std::size_t max_port_name_bytes = 1023;

/// Omits the last addresses where there are too many.
[[nodiscard]] std::string text_of(const PortName& port);
/// Fails (port) with a text that names the invalid part.
[[nodiscard]] base::Result<PortName> parse_port_name(std::string_view text);

}  // namespace fulmar::wire
