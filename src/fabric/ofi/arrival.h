// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "fabric/process_table.h"
#include "fabric/provider.h"

namespace fulmar::fabric::ofi {

/// Bytes of one read or write of a peer's memory.
inline constexpr std::size_t max_remote_bytes = 1U << 20;

/// A packet that arrived. Its body is valid until the next call of Messages::next.
struct Arrival {
  std::uint32_t peer = 0;
  wire::Envelope envelope;
  std::size_t prefix_bytes = 0;  ///< not 0: posted in place
  std::span<const std::byte> body;
};

/// The completion of a packet posted in place.
struct EndedSend {
  std::uint64_t token = 0;
  Sent how = Sent::done;
};

/// Identity of this process, and the callbacks of the provider.
struct Config {
  Processes processes;  ///< required
  void* owner = nullptr;
  /// The address() of a peer; called once for each peer that is sent to, may block. An error makes the
  /// peer lost.
  base::Result<std::vector<std::byte>> (*find)(void* owner, std::uint32_t peer) = nullptr;
  /// Called from within `poll`, once for a peer that can no longer, or never, be reached. The text
  /// names the peer, its address and the cause.
  void (*lost)(void* owner, std::uint32_t peer, const base::Error& why) = nullptr;
  /// Called from within `poll`: a peer has left in an orderly way, and all that it sent has been taken.
  /// It may come back. Null: peers never come back, and a post to one that has left makes it lost.
  void (*left)(void* owner, std::uint32_t peer) = nullptr;
  /// Interval of keep-alive probes of silent peers.
  std::int64_t keep_alive_interval_ns = 1'000'000'000;
  /// A message for the user about rejected packets; at most one a second.
  void (*report)(void* owner, const char* line) = nullptr;
};

}  // namespace fulmar::fabric::ofi
