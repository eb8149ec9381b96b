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
/// A packet is at the end of the slot that its number selects, right ahead of the slot's trailer:
/// ```
/// 248  u8  bytes  ahead of the trailer
/// 249  u8  heard  }
/// 250  u8  taken  } of a bare packet, else 0
/// 251  u32 proof
/// 255  u8  kind   0xa6 a packet; 0xa7 a bare one; never 0
/// ```
/// A *bare* packet has no header: its envelope is that of the last packet in the ring (the papers'
/// header caching). `heard` and the lower byte of `taken` are as in a header.
///
/// **Torn packets.** The order in which the bytes of a write reach memory is not defined: soft-RoCE
/// copies in any order, and a reader may see any byte before any other. So the proof is a hash of
/// cookie and number, of the rest of the trailer and of every byte ahead of it. While it does not
/// match, the packet is incomplete, and no part of it is used; one of 2^32 incomplete packets that
/// are examined is mistaken for complete. The proof also authenticates the writer.
///
/// The receiver clears the trailer when it has taken the packet, so that one word shows whether the
/// rest has to be examined.
namespace fulmar::wire {

inline constexpr std::uint32_t verbs_ring_slots = 64;
inline constexpr std::size_t verbs_slot_bytes = 256;
inline constexpr std::size_t verbs_slot_end_bytes = sizeof(std::uint64_t);
inline constexpr std::size_t verbs_ring_bytes = verbs_ring_slots * verbs_slot_bytes;
/// Of a packet in a slot, header included.
inline constexpr std::size_t verbs_max_slot_packet_bytes = verbs_slot_bytes - verbs_slot_end_bytes;

inline constexpr unsigned verbs_slot_kind_shift = 56;
inline constexpr std::uint64_t verbs_slot_packet = 0xa6;
inline constexpr std::uint64_t verbs_slot_bare = 0xa7;

constexpr std::uint64_t verbs_slot_mix(std::uint64_t state, std::uint64_t word) noexcept {
  const std::uint64_t mixed = (state ^ word) * 0x9e3779b97f4a7c15U;
  return mixed ^ mixed >> 32;
}

/// Of fewer than 8 bytes, whose number is known elsewhere: each of them counts.
inline std::uint64_t verbs_slot_rest(const std::byte* bytes, std::size_t count) noexcept {
  if (count >= sizeof(std::uint32_t)) {
    std::uint32_t front = 0;
    std::uint32_t back = 0;
    std::memcpy(&front, bytes, sizeof front);
    std::memcpy(&back, bytes + count - sizeof back, sizeof back);
    return std::uint64_t{back} << 32 | front;
  }
  if (count == 0) return 0;
  return std::to_integer<std::uint64_t>(bytes[0]) |
         std::to_integer<std::uint64_t>(bytes[count / 2]) << 8 |
         std::to_integer<std::uint64_t>(bytes[count - 1]) << 16;
}

inline constexpr std::uint64_t verbs_slot_proof_mask = std::uint64_t{0xffffffff} << 24;

/// What shows that all of a packet is there and the peer's. `end`: the rest of the slot's end, its
/// proof is 0; `packet`: what lies ahead of it.
inline std::uint32_t verbs_slot_proof(std::uint64_t cookie, std::uint32_t sequence,
                                      std::uint64_t end,
                                      std::span<const std::byte> packet) noexcept {
  std::uint64_t state = verbs_slot_mix(cookie, end ^ std::uint64_t{sequence} << 24);
  const std::byte* at = packet.data();
  std::size_t left = packet.size();
  for (; left >= sizeof(std::uint64_t); left -= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    state = verbs_slot_mix(state, word);
    at += sizeof word;
  }
  if (left != 0) state = verbs_slot_mix(state, verbs_slot_rest(at, left));
  return static_cast<std::uint32_t>(state);
}

/// `end` with the proof.
inline std::uint64_t verbs_proven_end(std::uint64_t cookie, std::uint32_t sequence,
                                      std::uint64_t end,
                                      std::span<const std::byte> packet) noexcept {
  return end | std::uint64_t{verbs_slot_proof(cookie, sequence, end, packet)} << 24;
}
/// The trailer of a packet, which begins with its header `head`.
inline std::uint64_t verbs_slot_end(const VerbsPacket& head,
                                    std::span<const std::byte> packet) noexcept {
  const std::uint64_t end = verbs_slot_packet << verbs_slot_kind_shift | packet.size();
  return verbs_proven_end(head.cookie, head.sequence, end, packet);
}
/// The trailer of a bare packet. Uses cookie, sequence, taken and heard of `head`.
inline std::uint64_t verbs_bare_end(const VerbsPacket& head,
                                    std::span<const std::byte> body) noexcept {
  const std::uint64_t end = verbs_slot_bare << verbs_slot_kind_shift |
                            std::uint64_t{static_cast<std::uint8_t>(head.taken)} << 16 |
                            std::uint64_t{head.heard} << 8 | body.size();
  return verbs_proven_end(head.cookie, head.sequence, end, body);
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
/// Whether all of the packet with this number is there: `packet` is what lies ahead of the end of a
/// full slot.
inline bool is_verbs_slot_whole(std::uint64_t end, std::uint64_t cookie, std::uint32_t sequence,
                                std::span<const std::byte> packet) noexcept {
  const auto shown = static_cast<std::uint32_t>(end >> 24);
  return verbs_slot_proof(cookie, sequence, end & ~verbs_slot_proof_mask, packet) == shown;
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
