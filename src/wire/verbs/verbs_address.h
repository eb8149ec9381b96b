// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

/// The address at which other processes connect to exchange queue pairs with this one.
/// Of the adapter itself it contains only the kind of link: queue numbers are sent
/// over an authenticated connection (wire/verbs/connection_info.h). Published through the launcher:
///
///     0   magic "FVA1", u8 link, 3 zero bytes
///     8   the address of the out-of-band connection, opaque here
namespace fulmar::wire {

enum class VerbsLink : std::uint8_t { infiniband = 1, ethernet = 2 };

struct VerbsAddress {
  VerbsLink link = VerbsLink::ethernet;
  std::vector<std::byte> connector_address;

  bool operator==(const VerbsAddress&) const = default;
};

inline constexpr std::size_t verbs_address_header_bytes = 8;
inline constexpr std::size_t max_verbs_connector_bytes = 592;
static_assert(verbs_address_header_bytes + max_verbs_connector_bytes <= 600,
              "it has to fit into a value of PMI-1");

/// Whether these are the bytes of such an address, of this or another version.
[[nodiscard]] bool is_verbs_address(std::span<const std::byte> bytes) noexcept;
/// Requires a `connector_address` of 1 to max_verbs_meeting_bytes bytes.
[[nodiscard]] std::vector<std::byte> encode_verbs_address(const VerbsAddress& address);
/// Fails (other) with a text that names the invalid field.
base::Result<VerbsAddress> decode_verbs_address(std::span<const std::byte> bytes);
/// "InfiniBand" or "Ethernet".
[[nodiscard]] const char* text_of(VerbsLink link) noexcept;

}  // namespace fulmar::wire
