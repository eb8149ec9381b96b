// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/bundle/bundle_address.h"

#include <algorithm>

#include "wire/bundle/bundle_packet.h"
#include "wire/network_order.h"

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::uint32_t magic = 0x46425531;  // "FBU1"

bool is_label(const std::string& label) {
  return !label.empty() && label.size() <= max_bundle_label_bytes &&
         std::all_of(label.begin(), label.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool is_known(std::span<const BundleRail> rails, const std::string& label) {
  return std::any_of(rails.begin(), rails.end(),
                     [&](const BundleRail& rail) { return rail.label == label; });
}

base::Error damaged(const char* what) {
  return failure(ErrorClass::other, "the address of a rank with several networks is damaged: %s",
                 what);
}

}  // namespace

bool is_bundle_address(std::span<const std::byte> bytes) noexcept {
  NetworkReader in(bytes);
  return in.number<std::uint32_t>() >> 8 == magic >> 8;
}

base::Result<std::vector<std::byte>> encode_bundle_address(std::span<const BundleRail> rails) {
  std::size_t total = bundle_address_header_bytes;
  for (const BundleRail& rail : rails) {
    total += bundle_rail_header_bytes + rail.label.size() + rail.address.size();
    if (!is_label(rail.label) || rail.address.empty()) {
      return failure(ErrorClass::other, "\"%s\" is no name of a rail", rail.label.c_str());
    }
  }
  if (rails.empty() || rails.size() > bundle_most_rails || total > max_bundle_address_bytes) {
    return failure(
        ErrorClass::other,
        "the addresses of %zu networks have %zu bytes, at most %zu for up to %u networks "
        "can be made known; name fewer of them in FULMAR_RAILS, or fewer interfaces in "
        "FULMAR_TCP_INTERFACES",
        rails.size(), total, max_bundle_address_bytes, bundle_most_rails);
  }
  std::vector<std::byte> bytes(total);
  NetworkWriter out(bytes);
  out.number(magic);
  out.number(static_cast<std::uint32_t>(rails.size()) << 24);
  for (const BundleRail& rail : rails) {
    out.number(static_cast<std::uint8_t>(rail.label.size()));
    out.number(std::uint8_t{0});
    out.number(static_cast<std::uint16_t>(rail.address.size()));
    out.bytes(std::as_bytes(std::span(rail.label)));
    out.bytes(rail.address);
  }
  return bytes;
}

base::Result<std::vector<BundleRail>> decode_bundle_address(std::span<const std::byte> bytes) {
  NetworkReader in(bytes);
  const auto found = in.number<std::uint32_t>();
  const auto counted = in.number<std::uint32_t>();
  const std::uint32_t count = counted >> 24;
  if (found != magic || (counted & 0xffffff) != 0 || count == 0 || count > bundle_most_rails ||
      bytes.size() > max_bundle_address_bytes) {
    return failure(ErrorClass::other,
                   "the address of a rank (%zu bytes) is none of several networks of this version "
                   "of Fulmar; use the same version on all hosts",
                   bytes.size());
  }
  std::size_t left = bytes.size() - bundle_address_header_bytes;
  std::vector<BundleRail> rails;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t label_bytes = in.number<std::uint8_t>();
    const auto zero = in.number<std::uint8_t>();
    const std::size_t address_bytes = in.number<std::uint16_t>();
    const std::size_t all = bundle_rail_header_bytes + label_bytes + address_bytes;
    if (zero != 0 || address_bytes == 0 || all > left) return damaged("a length makes no sense");
    left -= all;
    BundleRail rail;
    rail.label.resize(label_bytes);
    in.bytes(std::as_writable_bytes(std::span(rail.label)));
    if (!is_label(rail.label)) return damaged("the name of a network makes no sense");
    if (is_known(rails, rail.label)) return damaged("a network is there twice");
    rail.address.resize(address_bytes);
    in.bytes(rail.address);
    rails.push_back(std::move(rail));
  }
  if (left != 0) return damaged("there is something behind its end");
  return rails;
}

}  // namespace fulmar::wire
