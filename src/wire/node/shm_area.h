// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "wire/cell.h"

/// The layout of a rank's data area in the node's segment: the memory through which the other ranks
/// of the node send to it. It starts as zeros, which is a valid empty state, so no initialisation
/// is needed before the first message.
///
/// ```
///  AreaControl          wake word, doorbell, owners of the rings
///  Mailbox[ranks]       one cell for each rank: what cold peers write to
///  ShareDescriptor[]    pieces of messages that sender and receiver copy together
///  CollBlock[]          what the rank posts for the others in collective operations
///  staging buffers      memory for longer payloads of the first collective areas
///  Ring[rings]          private rings of hot peers
/// ```
namespace fulmar::wire {

inline constexpr std::uint32_t ring_cells = 256;
/// The data part of a ring is a power of two between these. A large one is not for buffering: lines
/// that both sides have just touched are transferred dirty from core to core, while those that were
/// last used a megabyte ago have been evicted to the cache that the cores share, which is three
/// times as fast.
inline constexpr std::uint32_t largest_ring_data_bytes = 2U << 20;
inline constexpr std::uint32_t smallest_ring_data_bytes = 32U << 10;
/// The largest body in a ring is this fraction of the data part, so that the receiver is certain to
/// announce free space to a sender that waits for it (see channel/ring.h).
inline constexpr std::uint32_t ring_body_fraction = 4;
inline constexpr std::uint32_t rings_per_area = 128;
/// In place of a claim: this rank cannot proceed without a ring.
inline constexpr std::uint32_t claim_wanted = 0xffffffff;
inline constexpr std::uint32_t share_descriptors = 64;
inline constexpr std::uint32_t max_ranks_per_segment = 1U << 16;

/// A private ring: one sender, one receiver. The data part, whose size follows from the layout,
/// is behind it.
struct Ring {
  /// Receiver, published lazily: packets taken, and in the upper half bodies given back with an
  /// answer (channel/held_bodies.h).
  alignas(64) std::atomic<std::uint64_t> consumed;
  alignas(64) std::atomic<std::uint32_t> want_credit;  ///< sender: asleep until `consumed` moves
  std::atomic<std::uint32_t> revoke;                   ///< receiver: give the ring back when idle
  /// Sender: how many bytes have been written of all bodies that were announced before they were
  /// complete.
  alignas(64) std::atomic<std::uint64_t> filled;
  alignas(64) std::array<Cell, ring_cells> cells;
};

/// The cell of a cold peer. The sender may write it while `cell.word` is 0; the receiver takes the
/// packet and writes 0.
struct Mailbox {
  Cell cell;
};

/// One message that sender and receiver copy together: each takes the next piece by advancing
/// `next`, copies it, and adds to `copied` or `failed`. Owned by the receiver. The generation in
/// the upper half of `next` keeps a late sender from taking pieces of the transfer that uses the
/// descriptor after its own.
struct alignas(64) ShareDescriptor {
  std::atomic<std::uint64_t> next;    ///< generation << 32 | first piece not taken
  std::atomic<std::uint64_t> copied;  ///< pieces in place
  std::atomic<std::uint64_t> failed;  ///< pieces whose copy was refused
};

inline constexpr std::uint32_t coll_blocks_per_area = 64;
/// Rounds that a collective block holds: how far one member of a group may be ahead of another.
inline constexpr std::uint32_t coll_slots_per_block = 64;
inline constexpr std::uint32_t coll_slot_bytes = 48;
/// Payloads of up to so many bytes fit into every collective block, longer ones need a staging
/// buffer.
inline constexpr std::uint32_t coll_block_bytes = 1024;
/// The collective blocks with numbers below this have a staging buffer.
inline constexpr std::uint32_t staging_buffers_per_area = 8;
/// Halved until it fits. With less than a megabyte to cycle through, payloads would stay in
/// the writer's own cache, from which others read slowly.
inline constexpr std::uint32_t largest_staging_bytes = 1280U << 10;
inline constexpr std::uint32_t smallest_staging_bytes = 20U << 10;
/// The place of a payload in a part that two members swap; the last bit: in whose staging buffer.
inline constexpr std::uint32_t swapped_place = 1U << 31;
static_assert(largest_staging_bytes < swapped_place);

/// One round of a collective area. A payload of up to `coll_slot_bytes` bytes is in the same cache
/// line as the number that publishes it.
struct alignas(64) CollSlot {
  std::atomic<std::uint64_t> round;  ///< written last
  /// Of a longer payload: offset in the staging buffer, or a swapped place. Else 0.
  std::uint32_t place;
  std::uint32_t whole_bytes;  ///< of all payloads of the call; UINT32_MAX: that many or more
  std::array<std::byte, coll_slot_bytes> body;
};

/// Work that the members of a group share in one round: each takes the next chunk by advancing
/// `next`, and counts it in `done` when it is finished. The number of the round in the upper bits
/// invalidates old values, so they need not be cleared. All use that of member 0.
struct CollSharedWork {
  alignas(64) std::atomic<std::uint64_t> next;  ///< round << 8 | first chunk not taken
  std::atomic<std::uint64_t> done;              ///< round << 8 | chunks that are there
  alignas(64) std::array<std::atomic<std::uint8_t>, 64> owners;  ///< which member took a chunk
};

/// The slots of one rank for the other members of one group: written only by the owner of the area
/// (except `work`), read by the others. Round r is in `slots[r % coll_slots_per_block]`; see
/// device/shm_coll/shm_coll_area.h.
struct CollBlock {
  std::array<CollSlot, coll_slots_per_block> slots;
  alignas(64) std::atomic<std::uint64_t> left;  ///< the owner's last round when it left the group
  CollSharedWork work;
  /// The staging buffer of a block without one of the area's.
  alignas(64) std::array<std::byte, std::size_t{4} * coll_block_bytes> body;
};

/// Whether and where the owner of an area sleeps.
enum class Asleep : std::uint32_t {
  no = 0,
  on_word = 1,    ///< on the futex word itself
  on_socket = 2,  ///< on its wake socket, among the descriptors of networks
  /// On the futex word, by the progress thread of the library. Another number, so
  /// that a progress thread which has been called off cannot fall asleep beside a waiting thread.
  helper_on_word = 3,
};

struct AreaControl {
  alignas(64) std::atomic<std::uint32_t> asleep;  ///< Asleep; a futex word
  /// 1: the owner has no membarrier, so senders fence before they look at `asleep`.
  std::atomic<std::uint32_t> senders_fence;
  std::atomic<std::uint32_t> wake_name;  ///< of the owner's base::WakeSocket, if it has one
  /// For probing single copies: the owner's private word at this address holds the
  /// token.
  alignas(64) std::atomic<std::uint64_t> probe_address;
  std::atomic<std::uint64_t> probe_token;
  std::atomic<std::uint32_t> rings_wanted;  ///< a sender found no free ring since the owner looked
  alignas(64) std::array<std::atomic<std::uint64_t>, max_ranks_per_segment / 4096> doorbell_summary;
  alignas(64) std::array<std::atomic<std::uint64_t>, max_ranks_per_segment / 64> doorbell;
  /// 0: free; rank + 1: the rank that claimed the ring.
  alignas(64) std::array<std::atomic<std::uint32_t>, rings_per_area> ring_owner;
  alignas(64) std::array<ShareDescriptor, share_descriptors> shares;
};

/// Offsets of the parts in an area for `ranks` ranks. Each is a multiple of 64.
struct AreaLayout {
  std::uint64_t mailboxes = 0;
  std::uint64_t claims = 0;  ///< u32 per rank: 1 + index of the ring that this rank claimed
  std::uint64_t coll_blocks = 0;
  std::uint64_t staging = 0;
  std::uint64_t rings = 0;
  std::uint64_t bytes = 0;
  std::uint32_t ring_count = 0;
  std::uint32_t ring_data_bytes = 0;
  std::uint32_t staging_bytes = 0;  ///< of each

  [[nodiscard]] constexpr std::uint64_t ring_bytes() const noexcept {
    return sizeof(Ring) + ring_data_bytes;
  }
  static constexpr std::uint64_t align(std::uint64_t value, std::uint64_t to) noexcept {
    return (value + to - 1) / to * to;
  }
  /// One ring for each other rank (at most `rings_per_area`), with the largest data parts that fit
  /// into `area_bytes`; with the smallest, fewer rings if need be. Without any, packets go through
  /// the mailboxes alone. `bytes` is 0 if not even those fit.
  static constexpr AreaLayout fit(std::uint32_t ranks, std::uint64_t area_bytes) noexcept {
    AreaLayout layout;
    layout.mailboxes = align(sizeof(AreaControl), 64);
    layout.claims = layout.mailboxes + std::uint64_t{ranks} * sizeof(Mailbox);
    layout.coll_blocks = align(layout.claims + std::uint64_t{ranks} * sizeof(std::uint32_t), 64);
    layout.staging = align(layout.coll_blocks + coll_blocks_per_area * sizeof(CollBlock), 4096);
    layout.staging_bytes = largest_staging_bytes;
    while (layout.staging_bytes > smallest_staging_bytes &&
           std::uint64_t{layout.staging_bytes} * staging_buffers_per_area * 4 > area_bytes) {
      layout.staging_bytes /= 2;
    }
    layout.rings = layout.staging + std::uint64_t{staging_buffers_per_area} * layout.staging_bytes;
    if (layout.rings > area_bytes) return {};
    const std::uint64_t room = area_bytes - layout.rings;
    const std::uint32_t peers = ranks > 1 ? ranks - 1 : 1;
    const std::uint64_t wanted = peers < rings_per_area ? peers : rings_per_area;
    layout.ring_data_bytes = largest_ring_data_bytes;
    while (layout.ring_data_bytes > smallest_ring_data_bytes &&
           wanted * layout.ring_bytes() > room) {
      layout.ring_data_bytes /= 2;
    }
    const std::uint64_t fitting = room / layout.ring_bytes();
    layout.ring_count = static_cast<std::uint32_t>(fitting < wanted ? fitting : wanted);
    layout.bytes = layout.rings + layout.ring_count * layout.ring_bytes();
    return layout;
  }
};

static_assert(sizeof(CollSlot) == 64 && offsetof(CollSlot, body) == 16);
static_assert(sizeof(CollBlock) == 64 * (coll_slots_per_block + 1) + 128 + 4 * coll_block_bytes);
static_assert(offsetof(CollBlock, left) == 64 * coll_slots_per_block &&
              sizeof(CollSharedWork) == 128);
static_assert(sizeof(Mailbox) == 64 && sizeof(ShareDescriptor) == 64);

}  // namespace fulmar::wire
