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

/// The packets between two connected queue pairs: messages, each a header and a body. The
/// queue pair identifies the sender, and the network keeps their order. The cookie and the number
/// protect against injected packets (docs/security.md).
namespace fulmar::wire {

static_assert(std::endian::native == std::endian::little, "packets are little-endian");

/// ```
///  0  u64 cookie    from the receiver's card
///  8  u32 sequence  of the packet on its connection, from 0, modulo 2^32
/// 12  u32 taken     as many packets of the receiver's have been taken here
/// 16  u32 length    bytes of the body, prefix included
/// 20  u8  kind      a PacketKind that travels, or one of VerbsSignal
/// 21  u8  flags     the envelope's
/// 22  u8  prefix    not 0: posted in place; the body begins with a prefix of so many bytes
/// 23  u8  heard     the lower byte of the last value of the gate of the receiver's ring
/// 24  u32 context
/// 28  i32 tag
/// ```
struct VerbsPacket {
  std::uint64_t cookie = 0;
  std::uint32_t sequence = 0;
  std::uint32_t taken = 0;
  std::uint32_t length = 0;
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint8_t prefix_bytes = 0;
  std::uint8_t heard = 0;
  std::uint32_t context = 0;
  std::int32_t tag = 0;
};
static_assert(sizeof(VerbsPacket) == 32 && offsetof(VerbsPacket, length) == 16);
static_assert(offsetof(VerbsPacket, kind) == 20 && offsetof(VerbsPacket, context) == 24);

/// Packets of the provider itself. They have no flags, context or tag.
enum class VerbsSignal : std::uint8_t {
  bye = 0xf0,     ///< a sender finalizes MPI: only the next two kinds follow it
  seen = 0xf1,    ///< answers `bye`: everything before it was read
  credit = 0xf2,  ///< carries only `taken` and `heard`
  lend = 0xf3,    ///< lends a ring (wire/verbs/verbs_ring.h); the body is its address
  gate = 0xf4,    ///< answers `lend`; the body is the address of the gate
  /// As `bye`, for good: messages that the process has not received yet never will be.
  farewell = 0xf5,
};

/// The longest packet, header included: the size of a receive buffer.
inline constexpr std::size_t verbs_max_packet_bytes = 16U << 10;
inline constexpr std::uint32_t verbs_max_body_bytes =
    static_cast<std::uint32_t>(verbs_max_packet_bytes - sizeof(VerbsPacket));
inline constexpr std::size_t verbs_max_prefix_bytes = 32;
/// The body of `lend` and `gate`.
inline constexpr std::uint32_t verbs_place_bytes = 16;

constexpr bool is_verbs_signal(std::uint8_t kind) noexcept {
  return kind >= static_cast<std::uint8_t>(VerbsSignal::bye) &&
         kind <= static_cast<std::uint8_t>(VerbsSignal::farewell);
}
constexpr std::uint32_t verbs_signal_bytes(VerbsSignal signal) noexcept {
  return signal == VerbsSignal::lend || signal == VerbsSignal::gate ? verbs_place_bytes : 0;
}

/// The header of a packet without its number.
constexpr VerbsPacket verbs_packet(const Envelope& envelope, std::size_t prefix_bytes) noexcept {
  VerbsPacket packet;
  packet.length = envelope.length;
  packet.kind = static_cast<std::uint8_t>(envelope.kind);
  packet.flags = envelope.flags;
  packet.prefix_bytes = static_cast<std::uint8_t>(prefix_bytes);
  packet.context = envelope.context;
  packet.tag = envelope.tag;
  return packet;
}
constexpr VerbsPacket verbs_packet(VerbsSignal signal) noexcept {
  VerbsPacket packet;
  packet.kind = static_cast<std::uint8_t>(signal);
  packet.length = verbs_signal_bytes(signal);
  return packet;
}
constexpr Envelope envelope_of(const VerbsPacket& packet) noexcept {
  return {static_cast<PacketKind>(packet.kind), packet.flags, packet.context, packet.tag,
          packet.length};
}

/// The immediate data of a put: a word in the lower half; above it
/// an authenticator, made of the receiver's cookie and the number that the put has
/// among the packets. Sixteen bits can be guessed with enough tries, but the first wrong guess
/// ends the connection.
constexpr std::uint32_t verbs_word(std::uint64_t cookie, std::uint32_t sequence,
                                   std::uint16_t word) noexcept {
  const std::uint64_t mixed = (cookie + sequence) * 0x9e3779b97f4a7c15U;
  return static_cast<std::uint32_t>(mixed >> 48) << 16 | word;
}

/// Why a packet with `body_bytes` bytes behind its header is invalid; null if it is valid. The
/// receiver checks cookie and numbers.
constexpr const char* fault_of(const VerbsPacket& packet, std::size_t body_bytes) noexcept {
  if (packet.length != body_bytes) return "a length that is not the message's";
  if (is_verbs_signal(packet.kind)) {
    const bool bare = packet.length == verbs_signal_bytes(static_cast<VerbsSignal>(packet.kind)) &&
                      packet.flags == 0 && packet.prefix_bytes == 0 && packet.context == 0 &&
                      packet.tag == 0;
    return bare ? nullptr : "a signal with a body that is not its own";
  }
  if (!travels(packet.kind)) return "an unknown kind";
  if (packet.length > verbs_max_body_bytes) return "a body that is too long";
  if (packet.prefix_bytes == 0) return nullptr;
  if (packet.prefix_bytes > verbs_max_prefix_bytes) return "a prefix that is too long";
  return packet.length > packet.prefix_bytes ? nullptr : "a prefix and nothing behind it";
}

/// The header at the front of a message; nothing if that is too short.
inline std::optional<VerbsPacket> decode_verbs_packet(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < sizeof(VerbsPacket)) return std::nullopt;
  VerbsPacket packet;
  std::memcpy(&packet, bytes.data(), sizeof packet);
  return packet;
}

}  // namespace fulmar::wire
