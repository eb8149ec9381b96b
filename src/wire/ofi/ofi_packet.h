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
#include "wire/process_name.h"
#include "wire/travels.h"

/// The packets between two endpoints of libfabric: messages, each a header and a body. An endpoint
/// receives messages from any sender, so each header names the sender and has the cookie of the
/// pair (docs/security.md), which depends on the version of this format as well; networks may
/// reorder messages, so each has a number.
namespace fulmar::wire {

static_assert(std::endian::native == std::endian::little, "packets are little-endian");

/// Raised with every change of the format below. Cookies depend on it
/// (fabric/ofi/cookies.h), so packets of other versions have no valid cookie.
inline constexpr std::uint32_t ofi_version = 2;

/// ```
///  0  u32 job       of the sender, not 0
///  4  u32 rank      of the sender in its job
///  8  u64 cookie    of this direction of the pair
/// 16  u32 sequence  among the packets to this receiver that keep order, from 0, modulo 2^32
/// 20  u32 ack       as many packets of the receiver's have come to their turn here
/// 24  u32 length    bytes of the body, prefix included
/// 28  u8  kind      a PacketKind that travels, or one of OfiSignal
/// 29  u8  flags     the envelope's
/// 30  u8  prefix    not 0: posted in place, outside of the order; sequence is 0
/// 31  u8  engine    of the sender
/// 32  u32 context   of `bye`: how many packets were posted in place before it
/// 36  i32 tag       of `bye`: 1 from a process that never comes back, else 0
/// ```
struct OfiPacket {
  std::uint32_t job = 0;
  std::uint32_t rank = 0;
  std::uint64_t cookie = 0;
  std::uint32_t sequence = 0;
  std::uint32_t ack = 0;
  std::uint32_t length = 0;
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint8_t prefix_bytes = 0;
  std::uint8_t engine = 0;
  std::uint32_t context = 0;
  std::int32_t tag = 0;
};
static_assert(sizeof(OfiPacket) == 40 && offsetof(OfiPacket, sequence) == 16);
static_assert(offsetof(OfiPacket, kind) == 28 && offsetof(OfiPacket, context) == 32);

/// Packets of the provider itself. They have no body or flags.
enum class OfiSignal : std::uint8_t {
  /// The last packet in order of a sender that finalizes MPI; may be repeated.
  bye = 0xf0,
  seen = 0xf1,  ///< says nothing but its `ack`; has no number itself
};

/// The longest body.
inline constexpr std::uint32_t ofi_max_body_bytes = 64U << 10;
inline constexpr std::size_t ofi_max_prefix_bytes = 32;
inline constexpr std::size_t ofi_max_packet_bytes = sizeof(OfiPacket) + ofi_max_body_bytes;

constexpr bool is_ofi_signal(std::uint8_t kind) noexcept {
  return kind == static_cast<std::uint8_t>(OfiSignal::bye) ||
         kind == static_cast<std::uint8_t>(OfiSignal::seen);
}

/// The header of a packet without sender and sequence number.
constexpr OfiPacket ofi_packet(const Envelope& envelope, std::size_t prefix_bytes) noexcept {
  OfiPacket packet;
  packet.length = envelope.length;
  packet.kind = static_cast<std::uint8_t>(envelope.kind);
  packet.flags = envelope.flags;
  packet.prefix_bytes = static_cast<std::uint8_t>(prefix_bytes);
  packet.context = envelope.context;
  packet.tag = envelope.tag;
  return packet;
}
constexpr OfiPacket ofi_packet(OfiSignal signal, std::uint32_t context) noexcept {
  OfiPacket packet;
  packet.kind = static_cast<std::uint8_t>(signal);
  packet.context = context;
  return packet;
}
constexpr ProcessName sender_of(const OfiPacket& packet) noexcept {
  return {packet.job, packet.rank, packet.engine};
}
constexpr void set_sender(OfiPacket& packet, const ProcessName& sender) noexcept {
  packet.job = sender.job;
  packet.rank = sender.rank;
  packet.engine = sender.engine;
}
constexpr Envelope envelope_of(const OfiPacket& packet) noexcept {
  return {static_cast<PacketKind>(packet.kind), packet.flags, packet.context, packet.tag,
          packet.length};
}

/// Why a packet with `body_bytes` bytes behind its header is invalid; null if it is valid. The
/// receiver checks sender, cookie and numbers.
constexpr const char* fault_of(const OfiPacket& packet, std::size_t body_bytes) noexcept {
  if (packet.length != body_bytes) return "a length that is not the message's";
  if (is_ofi_signal(packet.kind)) {
    const bool seen = packet.kind == static_cast<std::uint8_t>(OfiSignal::seen);
    const bool bare = packet.length == 0 && packet.flags == 0 && packet.prefix_bytes == 0 &&
                      (packet.tag == 0 || (packet.tag == 1 && !seen)) &&
                      !(seen && (packet.context != 0 || packet.sequence != 0));
    return bare ? nullptr : "a signal with a body";
  }
  if (!travels(packet.kind)) return "an unknown kind";
  if (packet.length > ofi_max_body_bytes) return "a body that is too long";
  if (packet.prefix_bytes == 0) return nullptr;
  if (packet.prefix_bytes > ofi_max_prefix_bytes) return "a prefix that is too long";
  if (packet.length <= packet.prefix_bytes) return "a prefix and nothing behind it";
  return packet.sequence == 0 ? nullptr : "a number where there is no order";
}

/// The header at the front of a message; nothing if that is too short.
inline std::optional<OfiPacket> decode_ofi_packet(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < sizeof(OfiPacket)) return std::nullopt;
  OfiPacket packet;
  std::memcpy(&packet, bytes.data(), sizeof packet);
  return packet;
}

}  // namespace fulmar::wire
