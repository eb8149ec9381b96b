// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fulmar::wire {

/// What a packet means. The numbers are part of the wire format.
enum class PacketKind : std::uint8_t {
  none = 0,
  eager = 1,  ///< a whole message
  eager_sync =
      2,         ///< a whole message behind a SyncBody; the receiver answers `sync_ack` on a match
  sync_ack = 3,  ///< CookieBody: the synchronous send was matched
  rts = 4,       ///< RtsBody: a message that waits at its sender
  cts_shared = 5,     ///< SharedCopyBody: both sides copy, single copy between address spaces
  cts_stream = 6,     ///< StreamBody: send the bytes as `data` packets
  data = 7,           ///< DataBody and a piece of a message
  fin = 8,            ///< CookieBody: the receiver has all bytes, the operation is complete
  hold = 9,           ///< receiver is over its memory budget: keep further messages
  release = 10,       ///< receiver has space again: send the kept messages
  ask = 11,           ///< AskBody: announce your first kept message that matches
  settled = 12,       ///< SettledBody: nothing older than a message announced early is kept
  cancel = 13,        ///< CookieBody: withdraw an announced message
  cancel_reply = 14,  ///< CancelBody
  ring_close = 15,    ///< last packet of a private ring: the sender gives the ring back
  // 16 is not in use.
  cts_put = 17,       ///< PutBody: the receiver's memory is exposed, put the bytes there
  no_put = 18,        ///< CookieBody: the sender cannot put, or has failed to complete it
  pipe_card = 19,     ///< PipeInfo: address of a pipe; for the channel itself (wire/study/pipe.h)
  peer_failed = 20,   ///< FailureBody: a process has failed
  comm_revoked = 21,  ///< no body: the communicator of the context was revoked
  agreement_ranks = 22,  ///< AgreementRanksBody (wire/recovery/agreement.h)
  agreement = 23,        ///< AgreementBody
  drain_marker = 24,     ///< no body: all that was sent before it has been taken once it is
  probe = 25,  ///< no body, no effect: the sender finds out whether the receiver can be reached
  last = probe,
};

/// Envelope of a packet: what matching needs, plus kind and length. The sender's process is implied
/// by the connection, so it costs no bytes.
struct Envelope {
  PacketKind kind = PacketKind::none;
  std::uint8_t flags = 0;
  std::uint32_t context = 0;
  std::int32_t tag = 0;
  std::uint32_t length = 0;  ///< bytes of the body
};

/// One slot of a ring: 64 bytes, one cache line.
///
/// ```
///  0  u64 word     bits 0-15 lap, 16-23 kind, 24-31 flags, 32-63 body length; written last
///  8  u32 context
/// 12  i32 tag
/// 16  48 bytes     the body if it is that short; nothing, or a ReturnedBody, if it is elsewhere
/// ```
/// The lap number distinguishes a new word from the one written a lap earlier, so a slot is never
/// cleared.
struct alignas(64) Cell {
  static constexpr std::size_t inline_bytes = 48;

  std::atomic<std::uint64_t> word;
  std::uint32_t context;
  std::int32_t tag;
  std::array<std::byte, inline_bytes> body;
};
static_assert(sizeof(Cell) == 64 && offsetof(Cell, context) == 8 && offsetof(Cell, body) == 16);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The flag of a cell whose body is in the data part.
inline constexpr std::uint8_t flag_body_in_data = 1;
/// The body is still being written; Ring::filled counts the bytes written.
inline constexpr std::uint8_t flag_cut_through = 2;
/// The body is at the begin of the data part: the rest of this lap is skipped.
inline constexpr std::uint8_t flag_restart = 4;
/// The body is in the data part of the ring of the opposite direction, in the place of a body that
/// was received through that; a ReturnedBody says which.
inline constexpr std::uint8_t flag_returned = 8;
/// With flag_body_in_data: both sides count positions from the begin of this lap again; everything
/// before was given back.
inline constexpr std::uint8_t flag_rewind = 16;

/// In a cell with flag_returned. Both refer to the receiver's own memory, so it checks them.
struct ReturnedBody {
  std::uint32_t number;  ///< this packet of the receiver, and all before, were taken
  std::uint32_t offset;  ///< of the body, in the data part
};

constexpr std::uint64_t pack_word(std::uint16_t lap, PacketKind kind, std::uint8_t flags,
                                  std::uint32_t length) noexcept {
  return std::uint64_t{lap} | std::uint64_t{static_cast<std::uint8_t>(kind)} << 16 |
         std::uint64_t{flags} << 24 | std::uint64_t{length} << 32;
}
constexpr std::uint16_t word_lap(std::uint64_t word) noexcept {
  return static_cast<std::uint16_t>(word);
}
constexpr PacketKind word_kind(std::uint64_t word) noexcept {
  return static_cast<PacketKind>(static_cast<std::uint8_t>(word >> 16));
}
constexpr std::uint8_t word_flags(std::uint64_t word) noexcept {
  return static_cast<std::uint8_t>(word >> 24);
}
constexpr std::uint32_t word_length(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 32);
}

}  // namespace fulmar::wire
