// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "fabric/process_table.h"
#include "wire/bundle/bundle_packet.h"

namespace fulmar::fabric::bundle {

inline constexpr std::size_t header_bytes = sizeof(wire::BundlePacket);
inline constexpr std::size_t max_body_bytes = (64U << 10) - header_bytes;
inline constexpr std::size_t max_prefix_bytes = wire::bundle_max_prefix_bytes;
inline constexpr std::size_t max_pieces = 32;
/// Short enough for a slow rail to have its share of a message of some hundred KiB.
inline constexpr std::size_t max_in_place_bytes = (128U << 10) + max_prefix_bytes;
/// For kept packets of all peers.
inline constexpr std::size_t default_memory_bytes = 16U << 20;

/// Identity of this process, and the callbacks of the provider.
struct Config {
  Processes processes;  ///< required
  std::size_t memory_bytes = default_memory_bytes;
  void* owner = nullptr;
  /// The address() of a peer, of a bundle or of a provider alone; may block.
  base::Result<std::vector<std::byte>> (*find)(void* owner, std::uint32_t peer) = nullptr;
  /// Called from `poll`, once for a peer that no rail reaches any more, or ever.
  void (*lost)(void* owner, std::uint32_t peer, const base::Error& why) = nullptr;
  /// Called from `poll` when a peer has left in good order.
  void (*left)(void* owner, std::uint32_t peer) = nullptr;
  /// A message for the user: a rail to a peer was given up. One for each rail; may be null.
  void (*report)(void* owner, const char* line) = nullptr;
  /// Clock in nanoseconds; null: base::now_ns(). For tests.
  std::uint64_t (*clock)(void* owner) = nullptr;
};

}  // namespace fulmar::fabric::bundle
