// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "wire/verbs/verbs_packet.h"

/// Short packets that are written into memory which their receiver polls (fabric/verbs/rings.h):
/// slots of a ring that it lends to one sender, and the gate, a word in the memory of that sender,
/// in which it publishes whether it polls.
///
/// What is written lies at the end of the slot that the packet's number chooses:
/// ```
///   u64 mark      ahead of the packet
///   the packet
/// 248  u8  bytes  of the packet
/// 249  u8  heard  }
/// 250  u8  taken  } of a bare packet, else 0
/// 251  u32 mark   its upper half
/// 255  u8  kind   0xa6 a packet; 0xa7 a bare one; never 0
/// ```
/// A *bare* packet has no header: its envelope is that of the last packet in the ring (the papers'
/// header caching). `heard` and the lower byte of `taken` are as in a header.
///
/// **Half a packet.** Rings are used only where the adapter is known to place the bytes of one write
/// in the order of their addresses (fabric/verbs/placement.h), up or down: then all of a packet is
/// there once both of its ends are. So there is a mark at each, which no earlier packet in the slot had:
/// it is made of the number, and of the receiver's cookie, so it shows as well that the peer has
/// written it. It says nothing about the bytes in between; nothing that could be computed from them
/// would prove that they have come.
///
/// The receiver clears the trailer when it has taken the packet, so that one word shows whether the
/// rest has to be examined.
namespace fulmar::wire {

inline constexpr std::uint32_t verbs_ring_slots = 64;
inline constexpr std::size_t verbs_slot_bytes = 256;
inline constexpr std::size_t verbs_slot_end_bytes = sizeof(std::uint64_t);
inline constexpr std::size_t verbs_ring_bytes = verbs_ring_slots * verbs_slot_bytes;
inline constexpr std::size_t verbs_slot_mark_bytes = sizeof(std::uint64_t);
/// Of a packet in a slot, header included, marks not.
inline constexpr std::size_t verbs_max_slot_packet_bytes =
    verbs_slot_bytes - verbs_slot_mark_bytes - verbs_slot_end_bytes;

inline constexpr unsigned verbs_slot_kind_shift = 56;
inline constexpr std::uint64_t verbs_slot_packet = 0xa6;
inline constexpr std::uint64_t verbs_slot_bare = 0xa7;

/// The mark of the packet with this number. Of 2^32 packets of a connection no two have the same.
constexpr std::uint64_t verbs_slot_mark(std::uint64_t cookie, std::uint32_t sequence) noexcept {
  return (cookie + sequence) * 0x9e3779b97f4a7c15U;
}
/// What ends a slot, without what it says of the packet.
constexpr std::uint64_t verbs_marked_end(std::uint64_t mark, std::uint64_t kind) noexcept {
  return kind << verbs_slot_kind_shift | mark >> 32 << 24;
}
/// Behind a packet of so many bytes.
constexpr std::uint64_t verbs_slot_end(std::uint64_t mark, std::size_t bytes) noexcept {
  return verbs_marked_end(mark, verbs_slot_packet) | bytes;
}
/// Behind a bare packet. Of `head` its taken and heard.
constexpr std::uint64_t verbs_bare_end(std::uint64_t mark, const VerbsPacket& head,
                                       std::size_t bytes) noexcept {
  return verbs_marked_end(mark, verbs_slot_bare) |
         std::uint64_t{static_cast<std::uint8_t>(head.taken)} << 16 |
         std::uint64_t{head.heard} << 8 | bytes;
}

/// Whether something was written there, complete or not.
constexpr bool is_verbs_slot_full(std::uint64_t end) noexcept {
  return end >> (verbs_slot_kind_shift + 1) == verbs_slot_bare >> 1;
}
/// Of a full slot.
constexpr bool is_verbs_slot_bare(std::uint64_t end) noexcept {
  return end >> verbs_slot_kind_shift == verbs_slot_bare;
}
/// Bytes that lie ahead of the end; more than a slot has are none.
constexpr std::size_t verbs_slot_bytes_of(std::uint64_t end) noexcept {
  const std::size_t bytes = end & 0xff;
  return bytes > verbs_max_slot_packet_bytes ? 0 : bytes;
}
constexpr std::uint8_t verbs_slot_heard(std::uint64_t end) noexcept {
  return static_cast<std::uint8_t>(end >> 8);
}
constexpr std::uint8_t verbs_slot_taken(std::uint64_t end) noexcept {
  return static_cast<std::uint8_t>(end >> 16);
}
/// Whether all of a packet is there, if `front` lies ahead of it, `end` behind it, and `mark` is that
/// of the number whose turn it is.
constexpr bool is_verbs_slot_whole(std::uint64_t front, std::uint64_t end,
                                   std::uint64_t mark) noexcept {
  return front == mark && static_cast<std::uint32_t>(end >> 24) == mark >> 32;
}

/// The word of a gate: the upper 48 bits show that the ring's owner has written it, and all of it;
/// below is how often it was turned, modulo 2^16. Odd: the gate is open.
constexpr std::uint64_t verbs_gate(std::uint64_t cookie, std::uint16_t turn) noexcept {
  const std::uint64_t mixed = (cookie ^ (std::uint64_t{turn} << 40)) * 0x9e3779b97f4a7c15U;
  return (mixed & ~std::uint64_t{0xffff}) | turn;
}
/// Nothing if the word is none, or a part of one. `cookie`: what the ring's owner has to show.
constexpr std::optional<std::uint16_t> verbs_gate_turn(std::uint64_t word,
                                                       std::uint64_t cookie) noexcept {
  const auto turn = static_cast<std::uint16_t>(word);
  if (verbs_gate(cookie, turn) != word) return std::nullopt;
  return turn;
}

/// The address of memory that a peer may write to: the body of VerbsSignal::lend and
/// VerbsSignal::gate. Address 0: none.
struct VerbsPlace {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};
static_assert(sizeof(VerbsPlace) == verbs_place_bytes);

/// Requires that many bytes.
inline VerbsPlace decode_verbs_place(std::span<const std::byte> bytes) noexcept {
  VerbsPlace place;
  std::memcpy(&place, bytes.data(), sizeof place);
  return place;
}

}  // namespace fulmar::wire
