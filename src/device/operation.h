// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error_class.h"
#include "device/buffer/buffer.h"
#include "device/completion.h"
#include "device/protocol/copy_choice.h"
#include "match/matcher.h"
#include "wire/packets.h"

namespace fulmar::device {

class RndvStream;
struct Peer;
struct Arrival;
struct Operation;
struct Protocol;
struct RdmaTransfer;

/// An entry in a peer's send queue, which waits for space in the ring or network: a message or a
/// control packet.
struct Outgoing {
  enum class Kind : std::uint8_t { message, control };
  Outgoing* next = nullptr;
  Kind kind = Kind::message;
};

enum class SendMode : std::uint8_t {
  standard,
  synchronous,  ///< complete only after the receive was matched
};

/// How far an operation is. Sends: idle, then queued (no space), kept (the receiver is over its
/// budget), announced (rts or eager_sync is out), sharing, streaming or putting (bytes move), done.
/// Receives: posted, arriving (a network reads the body of a short message to its place), reading,
/// fetching, sharing, streaming or putting (the peer puts), done.
enum class Stage : std::uint8_t {
  idle,
  queued,
  kept,
  announced,
  posted,
  arriving,
  reading,
  sharing,
  streaming,
  fetching,
  putting,
  done
};

/// The result of a finished operation.
struct Outcome {
  std::uint32_t peer = 0;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
  base::ErrorClass error = base::ErrorClass::success;
  bool cancelled = false;
};

/// A descriptor in shared memory, from which both sides of a message take pieces.
struct ShareState {
  std::uint32_t descriptor;
  std::uint32_t generation;
};

/// A send whose packets a network takes from the memory of the message: the completion of each.
struct StreamState : Completion {
  RndvStream* owner = nullptr;
  Operation* send = nullptr;
  std::uint64_t token = 0;     ///< of the completion; 0: no packet was posted so
  std::uint32_t in_place = 0;  ///< packets that need the memory
};

/// One send or receive in the device. Owned by the caller, which sets key, buffer and
/// mode, hands it to the device, and does not touch it until `done()`.
struct Operation : Outgoing {
  match::Posted posted;  ///< key.peer: destination of a send, source (or any_peer) of a receive
  Buffer buffer;
  Outcome outcome;
  Stage stage = Stage::idle;
  SendMode mode = SendMode::standard;
  bool is_send = false;
  bool cancel_requested = false;       ///< the peer has been asked to withdraw the message
  Peer* peer = nullptr;                ///< the connection, once known
  const Protocol* protocol = nullptr;  ///< by which the bytes move, once that is known
  RdmaTransfer* transfer = nullptr;    ///< while memory is open for the message
  /// State of the protocol that moves the bytes; see `Stage`.
  union {
    ShareState share;         ///< while `sharing`
    StreamState stream = {};  ///< of a send, while `streaming`
  };
  wire::Cookie own_cookie = 0;   ///< how the peer names this operation
  wire::Cookie peer_cookie = 0;  ///< how to name the peer's one
  std::uint64_t remote = 0;      ///< address of the peer's bytes
  std::uint64_t length = 0;      ///< bytes to move; less than buffer.bytes or the message's
  std::uint64_t moved = 0;       ///< bytes moved or posted; not counted while `sharing`
  std::uint32_t inlined = 0;     ///< bytes that came, or went, with the announcement
  std::uint64_t order = 0;       ///< among kept messages of the connection
  std::uint64_t started_ns = 0;  ///< when a long receive that is timed requested its bytes
  LongCopy way = LongCopy::automatic;
  bool way_counts = false;  ///< CopyChoice is timing it
  Operation* next_active = nullptr;
  /// Called when the operation is done, under the lock, if set. May start other operations and may
  /// free this one: the device does not touch it any more.
  void (*on_done)(Operation&) = nullptr;

  [[nodiscard]] bool done() const noexcept { return stage == Stage::done; }
  [[nodiscard]] match::Key& key() noexcept { return posted.key; }
  [[nodiscard]] const match::Key& key() const noexcept { return posted.key; }
};

/// The operation that contains this entry of the queue of posted receives.
inline Operation* operation_of(match::Posted* posted) noexcept {
  // Operation is not of standard layout (it derives from Outgoing), but the offset of a member of a
  // class without virtual bases is fixed; gcc and clang define it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  constexpr std::size_t offset = offsetof(Operation, posted);
#pragma GCC diagnostic pop
  return reinterpret_cast<Operation*>(reinterpret_cast<std::byte*>(posted) - offset);
}

}  // namespace fulmar::device
