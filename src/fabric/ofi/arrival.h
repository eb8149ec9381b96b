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

/// A packet that came. Its body is gone when the next one is asked for.
struct Arrival {
  std::uint32_t peer = 0;
  wire::Envelope envelope;
  std::size_t prefix_bytes = 0;  ///< not 0: posted in place
  std::span<const std::byte> body;
};

/// What became of a packet that was posted in place.
struct EndedSend {
  std::uint64_t token = 0;
  Sent how = Sent::done;
};

/// Who we are, and whom the provider calls.
struct Config {
  Processes processes;  ///< required
  void* owner = nullptr;
  /// The address() of a peer; called once for each that is sent to, may block. An error makes the
  /// peer lost.
  base::Result<std::vector<std::byte>> (*find)(void* owner, std::uint32_t peer) = nullptr;
  /// Called from within `poll`, once for a peer that cannot be reached any more or ever. The text
  /// names the peer, its address and the cause.
  void (*lost)(void* owner, std::uint32_t peer, const base::Error& why) = nullptr;
  /// Called from within `poll`: a peer has left in good order, and all that it sent has been taken.
  /// It may come back. Null: who has left never does, and a post to it makes it lost.
  void (*left)(void* owner, std::uint32_t peer) = nullptr;
  /// How often it is asked whether silent peers live.
  std::int64_t vigil_ns = 1'000'000'000;
  /// A line for people, about strangers; at most one a second.
  void (*report)(void* owner, const char* line) = nullptr;
};

}  // namespace fulmar::fabric::ofi
