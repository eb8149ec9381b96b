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

/// The header that two processes with several common networks (rails) put ahead of each packet, so
/// that packets in flight on a rail that fails can be sent again over another
/// (fabric/bundle/bundle.h).
namespace fulmar::wire {

static_assert(std::endian::native == std::endian::little, "packets are little-endian");

/// What follows a BundlePacket.
enum class BundleWhat : std::uint8_t {
  packet = 1,  ///< the body of a packet in order
  piece = 2,   ///< the prefix of a packet posted in place
  ack = 3,     ///< BundleAck; not in order, may get lost
  down = 4,    ///< BundleAck, in order: the sender has ended its side of a rail
  bye = 5,     ///< nothing, in order: the sender leaves MPI, and posts nothing behind this
  /// BundleAck, in order: a rail that both have ended may be used again. The process with the lower
  /// name offers that, the other one answers by the same when it takes connections there.
  up = 6,
};

/// ```
///  0  u32 number    which one in order, from 0; of a piece: which piece, from 0; of `ack`: 0
///  4  u32 ack       so many packets in order of the receiver's have come to their turn here
///  8  u8  what      a BundleWhat
///  9  u8  flags     of those below
/// 10  u16 life      of the sender, see below
/// 12  u16 to_life   of the receiver, as far as the sender knows; 0: it has not heard of it
/// 14  u16           0
/// ```
///
/// A process that leaves MPI and enters it again begins another life; both count anew then. Lives
/// are counted from 1, and 1 follows 65535. So a late packet of an earlier connection of the two is
/// recognised.
struct BundlePacket {
  std::uint32_t number = 0;
  std::uint32_t ack = 0;
  std::uint8_t what = 0;
  std::uint8_t flags = 0;
  std::uint16_t life = 0;
  std::uint16_t to_life = 0;
  std::uint16_t reserved = 0;
};
static_assert(sizeof(BundlePacket) == 16 && offsetof(BundlePacket, what) == 8);
static_assert(offsetof(BundlePacket, life) == 10 && offsetof(BundlePacket, to_life) == 12);

constexpr std::uint16_t bundle_life_after(std::uint16_t life) noexcept {
  return life == UINT16_MAX ? 1 : static_cast<std::uint16_t>(life + 1);
}
/// Whether `life` comes behind `other`; lives that are far apart have no order.
constexpr bool is_later_bundle_life(std::uint16_t life, std::uint16_t other) noexcept {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(life - other)) > 0;
}

/// The receiver should acknowledge soon.
inline constexpr std::uint8_t bundle_answer_soon = 1;

/// Which pieces have arrived completely: all before `base`, and `base` + i where bit i is set.
struct BundleAck {
  std::uint32_t base = 0;
  std::uint32_t rail = 0;  ///< of `down` and `up`: which of those that the two share; of `ack`: 0
  std::uint64_t map = 0;
};
static_assert(sizeof(BundleAck) == 16 && offsetof(BundleAck, map) == 8);

/// The most pieces of a pair in flight, and the most rails of a pair.
inline constexpr std::uint32_t bundle_pieces = 64;
inline constexpr std::uint32_t bundle_most_rails = 8;

inline constexpr std::size_t bundle_max_prefix_bytes = 16;

/// The packet kind as which a rail carries signals: rails drop an `ack` to a process that has left;
/// signals in order wait for it.
inline constexpr PacketKind bundle_ack_kind = PacketKind::settled;
inline constexpr PacketKind bundle_signal_kind = PacketKind::data;

/// How a packet arrived: in order, or with a prefix.
enum class BundlePlace : std::uint8_t { packet, in_place };

/// Why a header with `rest` bytes of body, or of prefix, behind it is invalid; null if it is valid.
/// The receiver checks numbers and rail.
constexpr const char* fault_of(const BundlePacket& packet, BundlePlace place,
                               std::size_t rest) noexcept {
  if (packet.reserved != 0 || packet.flags > bundle_answer_soon)
    return "reserved bits that are set";
  if (packet.life == 0) return "no life of its sender";
  const auto what = static_cast<BundleWhat>(packet.what);
  if ((what == BundleWhat::piece) != (place == BundlePlace::in_place)) return "an unknown kind";
  switch (what) {
    case BundleWhat::packet:
      return nullptr;
    case BundleWhat::piece:
      return rest > 0 && rest <= bundle_max_prefix_bytes ? nullptr : "a prefix of a wrong length";
    case BundleWhat::ack:
      if (packet.number != 0) return "a number where there is no order";
      return rest == sizeof(BundleAck) ? nullptr : "a signal of a wrong length";
    case BundleWhat::down:
    case BundleWhat::up:
      return rest == sizeof(BundleAck) ? nullptr : "a signal of a wrong length";
    case BundleWhat::bye:
      return rest == 0 ? nullptr : "a signal of a wrong length";
  }
  return "an unknown kind";
}

/// The header at the front of `bytes`; nothing if they are too few.
inline std::optional<BundlePacket> decode_bundle_packet(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < sizeof(BundlePacket)) return std::nullopt;
  BundlePacket packet;
  std::memcpy(&packet, bytes.data(), sizeof packet);
  return packet;
}

}  // namespace fulmar::wire
