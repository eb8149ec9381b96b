// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "fabric/connection/vain_posts.h"
#include "fabric/process_table.h"
#include "fabric/provider.h"

namespace fulmar::fabric::verbs {

/// base::now_ns() as deadlines count.
[[nodiscard]] inline std::int64_t signed_now_ns() noexcept {
  return static_cast<std::int64_t>(base::now_ns());
}

/// A packet that arrived. Its body is valid until the next call of Messages::next.
struct Arrival {
  enum class Kind : std::uint8_t {
    packet,
    in_place,  ///< posted in place
    word,      ///< no packet: the immediate data of an RDMA write
  };
  std::uint32_t peer = 0;
  wire::Envelope envelope;
  Kind kind = Kind::packet;
  std::uint16_t word = 0;
  std::size_t prefix_bytes = 0;  ///< of a packet posted in place
  std::span<const std::byte> body;
};

/// The longest RDMA read or write. The same for all adapters: the smallest limit of any known one
/// (soft-RoCE). More would gain nothing, and delay what is posted behind it.
inline constexpr std::size_t max_remote_bytes = std::size_t{8} << 20;

/// Unsignaled writes up to this length are copied: control words.
inline constexpr std::size_t copied_write_bytes = 64;

/// The default number of rings (rings.h) that a process lends at a time: 256 KiB, enough for the
/// neighbours of a process in a grid of three dimensions and half of those across its edges.
inline constexpr std::size_t usual_rings = 16;
inline constexpr std::size_t most_rings = 256;

/// The completion of a packet posted in place, or of an RDMA operation.
struct EndedSend {
  std::uint64_t token = 0;
  Sent how = Sent::done;
};

/// Completion queues of the adapter. Two are for studies only.
enum class CompletionQueues : std::uint8_t {
  one,  ///< for received messages and for this process's own work requests
  two,  ///< one for each of these
};

/// Identity of this process, and the callbacks of the provider.
struct Config {
  Processes processes;  ///< required
  CompletionQueues completion_queues = CompletionQueues::one;
  std::size_t rings = usual_rings;  ///< at most most_rings; 0: all packets are messages
  void* owner = nullptr;
  /// The address() of a peer; called once for each connection request, may block. An error makes the
  /// peer lost, or gone if it has left and may not come back.
  base::Result<std::vector<std::byte>> (*find)(void* owner, std::uint32_t peer) = nullptr;
  /// Called from within `poll`, once for a peer that can no longer, or never, be reached. The text names
  /// the peer, its address, the local device and the cause.
  void (*lost)(void* owner, std::uint32_t peer, const base::Error& why) = nullptr;
  /// Called from within `poll` when a peer has left in an orderly way, also for good. Null: peers do not
  /// return, and a message to a peer that has left makes it lost.
  void (*left)(void* owner, std::uint32_t peer) = nullptr;
  /// How long posts to a peer that has left and ended are refused before the peer is lost.
  std::uint64_t patience_ns = VainPosts::default_patience_ns;
  /// A message for the user.
  void (*report)(void* owner, const char* line) = nullptr;
};

}  // namespace fulmar::fabric::verbs
