// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

namespace fulmar::match {

inline constexpr std::uint32_t any_peer = 0xffffffff;
inline constexpr std::int32_t any_tag = -2147483647 - 1;

/// What a message carries and what a receive asks for. A receive may have `any_peer` and `any_tag`.
struct Key {
  std::uint32_t context = 0;
  std::uint32_t peer = 0;
  std::int32_t tag = 0;

  /// Whether a message with `message` as its key fits a receive with this key.
  [[nodiscard]] constexpr bool accepts(const Key& message) const noexcept {
    return context == message.context && (peer == message.peer || peer == any_peer) &&
           (tag == message.tag || tag == any_tag);
  }
  friend constexpr bool operator==(const Key&, const Key&) noexcept = default;
};

/// Spreads keys that differ by little, or by powers of two, over all bits.
[[nodiscard]] constexpr std::uint64_t hash(const Key& key) noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  std::uint64_t word = (std::uint64_t{key.peer} << 32 | static_cast<std::uint32_t>(key.tag)) * odd;
  word = (word ^ word >> 32 ^ key.context) * odd;
  return word ^ word >> 32;
}

}  // namespace fulmar::match
