// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

/// The address of a process with several networks: its addresses on each of them. Published
/// through the launcher, in network byte order:
///
///     0   magic "FBU1", u8 number of rails, 3 zero bytes
///     8   per rail: u8 bytes of the label, u8 zero, u16 bytes of the address, both
namespace fulmar::wire {

struct BundleRail {
  /// Two processes share the rails whose labels both have. Begins with the name of the network, and
  /// equals it for the rail that a process with a single network would have, too.
  std::string label;
  std::vector<std::byte> address;  ///< of that network

  bool operator==(const BundleRail&) const = default;
};

inline constexpr std::size_t bundle_address_header_bytes = 8;
inline constexpr std::size_t bundle_rail_header_bytes = 4;
inline constexpr std::size_t max_bundle_label_bytes = 48;
inline constexpr std::size_t max_bundle_address_bytes = 600;  ///< a value of PMI-1

/// Whether these are the bytes of such an address, of this or another version.
[[nodiscard]] bool is_bundle_address(std::span<const std::byte> bytes) noexcept;
/// Fails (other) where it would have more than max_bundle_address_bytes, there are more rails than
/// bundle_most_rails, or a label is invalid.
base::Result<std::vector<std::byte>> encode_bundle_address(std::span<const BundleRail> rails);
/// Fails (other) with a text that names the invalid field.
base::Result<std::vector<BundleRail>> decode_bundle_address(std::span<const std::byte> bytes);

}  // namespace fulmar::wire
