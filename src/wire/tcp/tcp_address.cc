// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/tcp/tcp_address.h"

#include <algorithm>

#include "wire/network_order.h"

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::uint32_t magic = 0x46544131;  // "FTA1"

void put(NetworkWriter& out, const TcpAddress& address) {
  out.bytes(std::as_bytes(std::span(address.bytes)));
  out.number(address.scope);
  out.number(address.port);
  out.number(static_cast<std::uint8_t>(address.family));
  out.number(address.prefix_bits);
  out.number(static_cast<std::uint8_t>(address.kind));
  out.bytes(std::array<std::byte, 3>{});
}

/// The name of the invalid field, or nullptr.
const char* get(NetworkReader& in, TcpAddress& address) {
  in.bytes(std::as_writable_bytes(std::span(address.bytes)));
  address.scope = in.number<std::uint32_t>();
  address.port = in.number<std::uint16_t>();
  const auto family = in.number<std::uint8_t>();
  address.prefix_bits = in.number<std::uint8_t>();
  const auto kind = in.number<std::uint8_t>();
  std::array<std::byte, 3> zero;
  in.bytes(zero);
  if (family != 4 && family != 6) return "family";
  address.family = static_cast<AddressFamily>(family);
  if (address.prefix_bits > (family == 4 ? 32 : 128)) return "prefix length";
  if (kind > static_cast<std::uint8_t>(AddressKind::loopback)) return "kind";
  address.kind = static_cast<AddressKind>(kind);
  if (address.port == 0) return "port";
  const bool short_one = std::all_of(address.bytes.begin() + 4, address.bytes.end(),
                                     [](std::uint8_t byte) { return byte == 0; });
  if (family == 4 && !short_one) return "address";
  return nullptr;
}

}  // namespace

std::vector<std::byte> encode_tcp_addresses(const TcpAddresses& addresses) {
  const std::size_t count = std::min(addresses.list.size(), max_tcp_addresses);
  std::vector<std::byte> bytes(tcp_addresses_header_bytes + count * tcp_address_bytes);
  NetworkWriter out(bytes);
  out.number(magic);
  out.number(static_cast<std::uint32_t>(count));
  out.bytes(std::as_bytes(std::span(addresses.host.boot)));
  out.number(addresses.host.network);
  for (std::size_t i = 0; i < count; ++i) put(out, addresses.list[i]);
  return bytes;
}

base::Result<TcpAddresses> decode_tcp_addresses(std::span<const std::byte> bytes) {
  NetworkReader in(bytes);
  const auto found = in.number<std::uint32_t>();
  const auto count = in.number<std::uint32_t>();
  if (bytes.size() < tcp_addresses_header_bytes || found != magic) {
    return failure(ErrorClass::other,
                   "the address of a rank (%zu bytes) is none of this version of Fulmar; use the "
                   "same version on all hosts",
                   bytes.size());
  }
  if (count > max_tcp_addresses ||
      bytes.size() != tcp_addresses_header_bytes + count * tcp_address_bytes) {
    return failure(ErrorClass::other,
                   "the address of a rank has %zu bytes and says that it holds %u addresses; use "
                   "the same version of Fulmar on all hosts",
                   bytes.size(), count);
  }
  TcpAddresses addresses;
  in.bytes(std::as_writable_bytes(std::span(addresses.host.boot)));
  addresses.host.network = in.number<std::uint64_t>();
  addresses.list.resize(count);
  for (TcpAddress& address : addresses.list) {
    if (const char* const field = get(in, address); field != nullptr) {
      return failure(ErrorClass::other,
                     "the address of a rank is damaged: the %s of entry %zu makes no sense", field,
                     static_cast<std::size_t>(&address - addresses.list.data()));
    }
  }
  return addresses;
}

}  // namespace fulmar::wire
