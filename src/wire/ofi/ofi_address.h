// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

/// The address of a process's endpoint of libfabric. Published
/// through the launcher, in network byte order:
///
///     0   magic "FOA2", u32 address format (libfabric's number)
///     8   u16 bytes of the provider's name, u16 bytes of the endpoint's name
///     12  both, one behind the other
namespace fulmar::wire {

struct OfiAddress {
  std::string provider;         ///< libfabric's, like "tcp;ofi_rxm"
  std::uint32_t format = 0;     ///< of the name; names of one format have the same length
  std::vector<std::byte> name;  ///< of the endpoint, opaque

  bool operator==(const OfiAddress&) const = default;
};

inline constexpr std::size_t max_ofi_provider_bytes = 64;
inline constexpr std::size_t max_ofi_name_bytes = 512;
inline constexpr std::size_t ofi_address_header_bytes = 12;
static_assert(ofi_address_header_bytes + max_ofi_provider_bytes + max_ofi_name_bytes <= 600,
              "it has to fit into a value of PMI-1");

/// Whether these are the bytes of such an address, of this or another version.
[[nodiscard]] bool is_ofi_address(std::span<const std::byte> bytes) noexcept;
/// Fails (other) where a name is longer than the above.
base::Result<std::vector<std::byte>> encode_ofi_address(const OfiAddress& address);
/// Fails (other) with a text that names the invalid field.
base::Result<OfiAddress> decode_ofi_address(std::span<const std::byte> bytes);

}  // namespace fulmar::wire
