// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "wire/cell.h"
#include "wire/travels.h"

/// The frames on a TCP connection after the handshake, one behind
/// the other, each a header and a body.
namespace fulmar::wire {

static_assert(std::endian::native == std::endian::little, "frames are little-endian");

/// ```
///  0  u32 length    bytes of the body, prefix included
///  4  u8  kind      a PacketKind that travels, or one of TcpSignal
///  5  u8  flags     the envelope's
///  6  u8  prefix    not 0: posted in place; the body begins with a prefix of so many bytes
///  7  u8  reserved  0
///  8  u32 context
/// 12  i32 tag
/// 16  u32 sequence  of the frame on its connection, from 0, modulo 2^32
/// ```
struct TcpFrame {
  std::uint32_t length = 0;
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint8_t prefix_bytes = 0;
  std::uint8_t reserved = 0;
  std::uint32_t context = 0;
  std::int32_t tag = 0;
  std::uint32_t sequence = 0;
};
static_assert(sizeof(TcpFrame) == 20 && offsetof(TcpFrame, kind) == 4);
static_assert(offsetof(TcpFrame, context) == 8 && offsetof(TcpFrame, sequence) == 16);

/// Frames of the connection itself. They have no body, flags, context or tag.
enum class TcpSignal : std::uint8_t {
  bye = 0xf0,   ///< the last frame of a sender except `seen`: it finalizes MPI
  seen = 0xf1,  ///< answers `bye`: everything before it was read
  /// `tcp_taken_step` more units of packets have been taken, see `tcp_units`.
  taken = 0xf2,
  /// As `bye`, for good: messages that the process has not received yet never will be.
  farewell = 0xf3,
  /// The sender needs this connection no more, unless it sends another packet.
  idle = 0xf4,
  /// Both are idle: as `bye`, of a sender that stays. The other side answers by its own `part`.
  part = 0xf5,
};

/// Packets that were posted with a copy are counted in units, and a sender posts no further message
/// while `tcp_window` of them are in flight: a process that does not read soon, or gets many
/// unexpected messages, receives no more than that before it can send `PacketKind::hold`.
inline constexpr std::uint32_t tcp_window = 2048;
inline constexpr std::uint32_t tcp_taken_step = tcp_window / 4;
constexpr std::uint32_t tcp_units(std::uint32_t body_bytes) noexcept {
  return 1 + body_bytes / 1024;
}

/// The longest body of a packet that was posted with a copy, and the longest posted in place. Long
/// ones mean fewer reads, each of which the receiver's kernel acknowledges: 1 MiB takes 10 % less
/// time than in packets of 256 KiB. The prefix comes on top, so that 1 MiB are two packets and no
/// bytes are left for a third.
inline constexpr std::uint32_t tcp_max_body_bytes = 64U << 10;
inline constexpr std::size_t tcp_max_prefix_bytes = 32;
inline constexpr std::uint32_t tcp_max_in_place_bytes =
    (512U << 10) + static_cast<std::uint32_t>(tcp_max_prefix_bytes);

constexpr bool is_signal(std::uint8_t kind) noexcept {
  return kind == static_cast<std::uint8_t>(TcpSignal::bye) ||
         kind == static_cast<std::uint8_t>(TcpSignal::seen) ||
         kind == static_cast<std::uint8_t>(TcpSignal::taken) ||
         kind == static_cast<std::uint8_t>(TcpSignal::farewell) ||
         kind == static_cast<std::uint8_t>(TcpSignal::idle) ||
         kind == static_cast<std::uint8_t>(TcpSignal::part);
}

constexpr TcpFrame tcp_frame(const Envelope& envelope, std::size_t prefix_bytes,
                             std::uint32_t sequence) noexcept {
  return {envelope.length,
          static_cast<std::uint8_t>(envelope.kind),
          envelope.flags,
          static_cast<std::uint8_t>(prefix_bytes),
          0,
          envelope.context,
          envelope.tag,
          sequence};
}
constexpr TcpFrame tcp_frame(TcpSignal signal, std::uint32_t sequence) noexcept {
  return {0, static_cast<std::uint8_t>(signal), 0, 0, 0, 0, 0, sequence};
}
constexpr Envelope envelope_of(const TcpFrame& frame) noexcept {
  return {static_cast<PacketKind>(frame.kind), frame.flags, frame.context, frame.tag, frame.length};
}

/// Why a frame is invalid where number `sequence` is expected; null if it is valid.
constexpr const char* fault_of(const TcpFrame& frame, std::uint32_t sequence) noexcept {
  if (frame.sequence != sequence) return "a wrong sequence number";
  if (frame.reserved != 0) return "a reserved byte that is not 0";
  if (is_signal(frame.kind)) {
    const bool bare = frame.length == 0 && frame.flags == 0 && frame.prefix_bytes == 0 &&
                      frame.context == 0 && frame.tag == 0;
    return bare ? nullptr : "a signal with a body";
  }
  if (!travels(frame.kind)) return "an unknown kind";
  if (frame.prefix_bytes == 0) {
    return frame.length <= tcp_max_body_bytes ? nullptr : "a body that is too long";
  }
  if (frame.prefix_bytes > tcp_max_prefix_bytes) return "a prefix that is too long";
  if (frame.length <= frame.prefix_bytes) return "a prefix and nothing behind it";
  return frame.length <= tcp_max_in_place_bytes ? nullptr : "a body that is too long";
}

/// The header at the front of `bytes`; nothing if they are too few.
inline std::optional<TcpFrame> decode_tcp_frame(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < sizeof(TcpFrame)) return std::nullopt;
  TcpFrame frame;
  std::memcpy(&frame, bytes.data(), sizeof frame);
  return frame;
}

}  // namespace fulmar::wire
