// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/verbs/verbs_address.h"

#include "wire/network_order.h"

namespace fulmar::wire {
namespace {

constexpr std::uint32_t magic = 0x46564131;  // "FVA1"

}  // namespace

bool is_verbs_address(std::span<const std::byte> bytes) noexcept {
  NetworkReader in(bytes);
  return in.number<std::uint32_t>() >> 8 == magic >> 8;
}

std::vector<std::byte> encode_verbs_address(const VerbsAddress& address) {
  std::vector<std::byte> bytes(verbs_address_header_bytes + address.connector_address.size());
  NetworkWriter out(bytes);
  out.number(magic);
  out.number(std::uint32_t{static_cast<std::uint8_t>(address.link)} << 24);
  out.bytes(address.connector_address);
  return bytes;
}

base::Result<VerbsAddress> decode_verbs_address(std::span<const std::byte> bytes) {
  NetworkReader in(bytes);
  const auto found = in.number<std::uint32_t>();
  const auto link = in.number<std::uint32_t>();
  const bool known = link == std::uint32_t{static_cast<std::uint8_t>(VerbsLink::infiniband)}
                                 << 24 ||
                     link == std::uint32_t{static_cast<std::uint8_t>(VerbsLink::ethernet)} << 24;
  if (found != magic || !known || bytes.size() <= verbs_address_header_bytes ||
      bytes.size() > verbs_address_header_bytes + max_verbs_connector_bytes) {
    return base::failure(
        base::ErrorClass::other,
        "the address of a rank (%zu bytes) is none of the network verbs of this version of Fulmar; "
        "use the same version and the same FULMAR_FABRIC on all hosts",
        bytes.size());
  }
  const std::span<const std::byte> connector_address = bytes.subspan(verbs_address_header_bytes);
  return VerbsAddress{static_cast<VerbsLink>(link >> 24),
                      {connector_address.begin(), connector_address.end()}};
}

const char* text_of(VerbsLink link) noexcept {
  return link == VerbsLink::infiniband ? "InfiniBand" : "Ethernet";
}

}  // namespace fulmar::wire
