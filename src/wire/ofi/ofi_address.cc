// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/ofi/ofi_address.h"

#include <algorithm>

#include "wire/network_order.h"

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::uint32_t magic = 0x464f4132;  // "FOA2"

}  // namespace

bool is_ofi_address(std::span<const std::byte> bytes) noexcept {
  NetworkReader in(bytes);
  return in.number<std::uint32_t>() >> 8 == magic >> 8;
}

base::Result<std::vector<std::byte>> encode_ofi_address(const OfiAddress& address) {
  if (address.provider.empty() || address.provider.size() > max_ofi_provider_bytes ||
      address.name.empty() || address.name.size() > max_ofi_name_bytes) {
    return failure(ErrorClass::other,
                   "libfabric's provider '%s' has endpoints with names of %zu bytes, at most %zu "
                   "can be made known; choose another one by FULMAR_OFI_PROVIDER",
                   address.provider.c_str(), address.name.size(), max_ofi_name_bytes);
  }
  std::vector<std::byte> bytes(ofi_address_header_bytes + address.provider.size() +
                               address.name.size());
  NetworkWriter out(bytes);
  out.number(magic);
  out.number(address.format);
  out.number(static_cast<std::uint16_t>(address.provider.size()));
  out.number(static_cast<std::uint16_t>(address.name.size()));
  out.bytes(std::as_bytes(std::span(address.provider)));
  out.bytes(address.name);
  return bytes;
}

base::Result<OfiAddress> decode_ofi_address(std::span<const std::byte> bytes) {
  NetworkReader in(bytes);
  const auto found = in.number<std::uint32_t>();
  OfiAddress address;
  address.format = in.number<std::uint32_t>();
  const std::size_t provider_bytes = in.number<std::uint16_t>();
  const std::size_t name_bytes = in.number<std::uint16_t>();
  if (found != magic || provider_bytes == 0 || provider_bytes > max_ofi_provider_bytes ||
      name_bytes == 0 || name_bytes > max_ofi_name_bytes ||
      bytes.size() != ofi_address_header_bytes + provider_bytes + name_bytes) {
    return failure(ErrorClass::other,
                   "the address of a rank (%zu bytes) is none of the network ofi of this version "
                   "of Fulmar; use the same version and the same FULMAR_FABRIC on all hosts",
                   bytes.size());
  }
  address.provider.resize(provider_bytes);
  in.bytes(std::as_writable_bytes(std::span(address.provider)));
  const bool readable = std::all_of(address.provider.begin(), address.provider.end(),
                                    [](char c) { return c > ' ' && c <= '~'; });
  if (!readable) {
    return failure(ErrorClass::other,
                   "the address of a rank is damaged: the name of its provider makes no sense");
  }
  address.name.resize(name_bytes);
  in.bytes(address.name);
  return address;
}

}  // namespace fulmar::wire
