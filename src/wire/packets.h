// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "wire/cell.h"

namespace fulmar::wire {

/// Names an operation of the peer that a packet answers. Made by the side that owns the operation,
/// which checks it when it comes back; 0 is never used.
using Cookie = std::uint64_t;

/// Ahead of the payload of `eager_sync`.
struct SyncBody {
  Cookie send;
};

/// `sync_ack`, `fin`, `cancel`, `no_put`.
struct CookieBody {
  Cookie operation;
};

/// `rts`: a message that waits at its sender. Context and tag are in the envelope.
struct RtsBody {
  Cookie send;
  /// Of the first byte at the sender; 0 if the data are not one run there. With rts_open it is the
  /// remote address to be used with `key`, which may be another number.
  std::uint64_t address;
  std::uint64_t length;  ///< bytes of the message
  std::uint64_t flags;   ///< of those below
  std::uint64_t key;     ///< with rts_open: the rkey for fetching from `address`
  std::uint64_t order;   ///< number of the message among those of this connection, from 1
};
/// Announced in reply to `ask`: older messages may still be kept.
inline constexpr std::uint64_t rts_early = 1;
/// The memory of the bytes is registered: the receiver may fetch them, until its `fin` or `cts`.
inline constexpr std::uint64_t rts_open = 2;
/// The sender would put the bytes, if it got a `cts_put`.
inline constexpr std::uint64_t rts_puts = 4;
/// The first bytes of the message are behind the body, at most `most_inlined_bytes` of them. Within a node a stream
/// begins behind them, over networks with the first byte again.
inline constexpr std::uint64_t rts_inlined = 8;
inline constexpr std::uint64_t most_inlined_bytes = 32U << 10;

/// `cts_shared`: the receiver's buffer, and the descriptor from which both sides take pieces.
struct SharedCopyBody {
  Cookie send;
  std::uint64_t address;
  std::uint64_t length;
  std::uint32_t descriptor;
  std::uint32_t generation;
};

/// `cts_stream`.
struct StreamBody {
  Cookie send;
  Cookie receive;
  std::uint64_t length;  ///< bytes wanted, at most the message's
};

/// `cts_put`: the receiver's memory, which is registered until `fin` or `no_put`.
struct PutBody {
  Cookie send;
  Cookie receive;
  std::uint64_t address;  ///< the remote address of the first byte, to be used with `key`
  std::uint64_t length;   ///< bytes wanted, at most the message's
  std::uint64_t key;
};

/// Ahead of the payload of `data`.
struct DataBody {
  Cookie receive;
  std::uint64_t offset;
};

/// `ask`.
struct AskBody {
  std::uint32_t any_tag;
  std::uint32_t reserved;
};

/// `settled`: every message of this context that is older than the one announced early with this
/// order has been sent ahead of this packet.
struct SettledBody {
  std::uint64_t order;
};

/// `cancel_reply`.
struct CancelBody {
  Cookie send;
  std::uint32_t cancelled;
  std::uint32_t reserved;
};

/// `peer_failed`: the name of the process (wire/process_name.h), which sender and receiver know by
/// different ids.
struct FailureBody {
  std::uint32_t job;
  std::uint32_t rank;
  std::uint32_t engine;
  std::uint32_t reserved;
};

static_assert(sizeof(FailureBody) == 16);
static_assert(sizeof(RtsBody) == 48 && offsetof(RtsBody, key) == 32);
static_assert(sizeof(PutBody) == 40 && offsetof(PutBody, key) == 32);
static_assert(sizeof(RtsBody) <= Cell::inline_bytes && sizeof(PutBody) <= Cell::inline_bytes &&
              sizeof(SharedCopyBody) <= Cell::inline_bytes &&
              sizeof(StreamBody) <= Cell::inline_bytes);

/// Whether `length` bytes from `address` on fit into the address space.
constexpr bool is_range(std::uint64_t address, std::uint64_t length) noexcept {
  return length <= ~std::uint64_t{0} - address;
}

/// The bytes of a body.
template <class Body>
  requires std::is_trivially_copyable_v<Body>
std::span<const std::byte> bytes_of(const Body& body) noexcept {
  return {reinterpret_cast<const std::byte*>(&body), sizeof body};
}

/// The body at the front of `bytes`; nothing if they are too few.
template <class Body>
  requires std::is_trivially_copyable_v<Body>
std::optional<Body> decode(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < sizeof(Body)) return std::nullopt;
  Body body;
  std::memcpy(&body, bytes.data(), sizeof body);
  return body;
}

}  // namespace fulmar::wire
