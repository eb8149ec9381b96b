// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

/// The tcp address of a process: the addresses at which it listens, and
/// the identity of its host. Published through the launcher, in network byte order:
///
///     0   magic "FTA1", u32 number of addresses
///     8   HostIdentity: boot id (16), network name space (8)
///     32  per address, 28 bytes: address (16; IPv4 in the first 4), scope (4), port (2), family
///     (1),
///         prefix length (1), kind (1), 3 zero bytes
namespace fulmar::wire {

/// Identifies processes that share addresses: whether "127.0.0.1" of one is that of the
/// other.
struct HostIdentity {
  std::array<std::uint8_t, 16> boot{};  ///< of the running kernel, made when it booted
  std::uint64_t network = 0;            ///< inode of the network name space

  /// False where it could not be determined; then comparisons are meaningless.
  [[nodiscard]] bool known() const noexcept {
    return network != 0 && boot != std::array<std::uint8_t, 16>{};
  }
  bool operator==(const HostIdentity&) const = default;
};

enum class AddressFamily : std::uint8_t { v4 = 4, v6 = 6 };

/// What kind of address it is, from the one most likely to work to the least likely.
enum class AddressKind : std::uint8_t {
  ordinary = 0,
  tunnel = 1,      ///< point to point: a VPN
  bridge = 2,      ///< inside the host, of containers or virtual machines
  idle = 3,        ///< its interface has no carrier
  link_local = 4,  ///< valid on one link only
  loopback = 5,    ///< valid on its host only
};

struct TcpAddress {
  std::array<std::uint8_t, 16> bytes{};  ///< network order; IPv4 in the first four, zero behind
  std::uint32_t scope = 0;               ///< index of the owner's interface
  std::uint16_t port = 0;                ///< where the owner listens; 0: nowhere
  AddressFamily family = AddressFamily::v4;
  std::uint8_t prefix_bits = 0;  ///< of the subnet; at most 32 or 128
  AddressKind kind = AddressKind::ordinary;

  bool operator==(const TcpAddress&) const = default;
  /// Whether the address bytes are the same, whatever the port.
  [[nodiscard]] bool same_place(const TcpAddress& other) const noexcept {
    return family == other.family && bytes == other.bytes;
  }
};

struct TcpAddresses {
  HostIdentity host;
  std::vector<TcpAddress> list;
};

inline constexpr std::size_t max_tcp_addresses = 18;
inline constexpr std::size_t tcp_address_bytes = 28;
inline constexpr std::size_t tcp_addresses_header_bytes = 32;
inline constexpr std::size_t max_tcp_addresses_bytes =
    tcp_addresses_header_bytes + max_tcp_addresses * tcp_address_bytes;
static_assert(max_tcp_addresses_bytes <= 600, "it has to fit into a value of PMI-1");

/// At most max_tcp_addresses are kept.
[[nodiscard]] std::vector<std::byte> encode_tcp_addresses(const TcpAddresses& addresses);
/// Fails (other) with a text that names the invalid field. Allocates for at most
/// max_tcp_addresses, whatever the input.
base::Result<TcpAddresses> decode_tcp_addresses(std::span<const std::byte> bytes);

}  // namespace fulmar::wire
