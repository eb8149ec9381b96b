// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "fabric/connection/vain_posts.h"
#include "fabric/process_table.h"
#include "fabric/provider.h"

namespace fulmar::fabric::verbs {

/// A packet that came. Its body is gone when the next one is asked for.
struct Arrival {
  enum class Kind : std::uint8_t {
    packet,
    in_place,  ///< posted so
    word,      ///< none: a put has come that tells of itself
  };
  std::uint32_t peer = 0;
  wire::Envelope envelope;
  Kind kind = Kind::packet;
  std::uint16_t word = 0;
  std::size_t prefix_bytes = 0;  ///< of one posted in place
  std::span<const std::byte> body;
};

/// The longest fetch or put. The same whatever the adapter: the least that any known one takes in
/// one order (soft-RoCE). More would gain nothing, and hold up what is posted behind it.
inline constexpr std::size_t max_remote_bytes = std::size_t{8} << 20;

/// Quiet puts up to this length are copied: words of control, with room to spare.
inline constexpr std::size_t copied_put_bytes = 64;

/// Rings (rings.h) that a process lends at a time, if nothing else is asked for: 256 KiB, as many
/// as the neighbours of a process in a grid of three dimensions and half of those at its edges.
inline constexpr std::size_t usual_rings = 16;
inline constexpr std::size_t most_rings = 256;

/// What became of a packet that was posted in place, of a fetch or a put.
struct EndedSend {
  std::uint64_t token = 0;
  Sent how = Sent::done;
};

/// Where an adapter tells that an order has ended. For studies: one queue is what this provider is
/// made for.
enum class CompletionQueues : std::uint8_t {
  one,  ///< for messages that came and for own orders
  two,  ///< for each of these one
};

/// Who we are, and whom the provider calls.
struct Config {
  Processes processes;  ///< required
  CompletionQueues completion_queues = CompletionQueues::one;
  std::size_t rings = usual_rings;  ///< at most most_rings; 0: all packets are messages
  void* owner = nullptr;
  /// The address() of a peer; called once for each connection that is asked for, may block. An
  /// error makes the peer lost, or gone if it has left and may not come back.
  base::Result<std::vector<std::byte>> (*find)(void* owner, std::uint32_t peer) = nullptr;
  /// Called from within `poll`, once for a peer that cannot be reached any more or ever. The text
  /// names the peer, its address, our device and the cause.
  void (*lost)(void* owner, std::uint32_t peer, const base::Error& why) = nullptr;
  /// Called from within `poll` when a peer has left in good order, also for good. Null: nobody
  /// comes back, and a message to who has left makes it lost.
  void (*left)(void* owner, std::uint32_t peer) = nullptr;
  /// How long messages are posted in vain to a peer that has left and ended until it is lost.
  std::uint64_t patience_ns = VainPosts::default_patience_ns;
  /// A line for people.
  void (*report)(void* owner, const char* line) = nullptr;
};

}  // namespace fulmar::fabric::verbs
