// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/memory/pages.h"
#include "fabric/provider.h"
#include "fabric/verbs/adapter.h"
#include "wire/verbs/verbs_ring.h"

/// Short packets written by RDMA into memory that the receiver polls.
///
/// **Why.** A message uses a receive buffer and a completion: the adapter fetches the buffer's
/// descriptor and writes the completion, the receiver polls for it, finds the peer by its queue, and
/// reposts the buffer. A write into memory that the receiver polls needs none of this (the fast path of
/// the papers). Such memory is needed for each peer, so only some peers get it.
///
/// **Lending.** A receiver lends a ring to a peer from which `shorts_until_ring` packets came that would
/// have fitted, without a sleep of the receiver in between. It has at most `most` rings of 16 KiB, each
/// allocated when it is first needed: silent peers cost nothing, and at most `most` words are polled,
/// whatever the size of the job. If all are lent, one that was not used at all while the other peer sent
/// its packets is taken back, of several the least recently used; otherwise none is taken, so peers with
/// equal traffic do not take turns at losing theirs. A ring can be taken back only if its borrower is
/// known not to write into it any more. A borrower that computes may not answer for long: then another
/// one is asked, so one such peer does not block the other rings.
///
/// **Order and room.** The packets of a pair have one sequence of numbers, in rings and as messages, and
/// at most a window of them is in flight. A ring has as many slots, so the number of a packet selects its
/// slot, which is free; and the receiver polls one slot of a ring, that of the next number. Whether the
/// next packet is in the ring or a message is decided by where it is found. Writes and messages of a
/// queue pair are carried out in order; so what was written to the ring before a message is taken before
/// it (`Messages::take`).
///
/// **Sleeping.** A write wakes no process. So before a receiver sleeps, its peers have to change to
/// messages, and a peer must know that when it sends, also one that has computed for long and has not
/// polled since. Therefore each lent ring has a *gate*, a word in the memory of the sender, which the
/// receiver writes: open (the ring is polled) or closed (send messages). The sender loads that word
/// before each packet. Before it sleeps, the receiver closes the open gates, and polls the rings once
/// more.
///
/// A packet can cross the closing of its gate, and no ordering rule of the adapter excludes that. So each
/// packet carries the last turn of the gate that its sender has seen (`heard`): the closing is complete
/// with the first packet that has seen it. Until then the receiver goes on polling the ring, and sleeps
/// shortly: as long as the time since the closing, but at least 0.1 ms and at most 0.25 s
/// (Messages::max_poll_sleep_ns). A packet that crossed the closing is found after twice its delay, and
/// one that was sent later wakes the receiver at once, because its sender saw the gate. A sender without
/// packets checks its gates now and then, and before it sleeps itself, and then sends `heard`.
///
/// A gate is opened again under the condition for lending a ring: a pair that sends a few packets
/// between sleeps continues with messages.
///
/// **Headers.** A packet with the same envelope as the one before it in the ring is sent without a
/// header: eight bytes of data take 24, and the cost of a message depends on its length.
///
/// **Partial packets** are those whose bytes have not all arrived. Rings are lent and used only by
/// processes whose adapter is known to place bytes in order (placement.h), and both ends of a packet are
/// marked (wire/verbs/verbs_ring.h). A partial packet is checked again by each poll until it is complete,
/// without waiting for it. A message behind it implies that it is complete: if it is not found by then,
/// that message has a wrong number. Processes with other adapters send messages.
///
/// **Forged packets.** A slot is copied before it is examined. Data written by a process without the
/// cookie never become a packet; the peer's next packet overwrites them, or they stay in its way. A gate
/// contains the cookie of its direction, and counts as closed if it does not.
namespace fulmar::fabric::verbs {

/// A word in memory that an adapter writes.
inline std::atomic_ref<std::uint64_t> word_at(std::byte* at) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at));
}

/// How a packet arrived.
enum class Carrier : std::uint8_t { message, ring };

/// Memory that is lent to one peer at a time.
struct Ring {
  base::Pages memory;
  MemoryRegion opened;
  std::byte* slots = nullptr;
  std::uint32_t borrower = 0;  ///< rank, while it is lent
  bool lent = false;
  std::uint64_t used_at = 0;  ///< by the clock of Messages::count_short

  [[nodiscard]] wire::VerbsPlace place() const noexcept {
    return {opened.name_of(slots), opened.rkey};
  }
  /// The end word of the slot of the packet with this number, right behind the packet.
  [[nodiscard]] std::byte* end_of(std::uint32_t number) const noexcept {
    const std::size_t next = (number % wire::verbs_ring_slots + 1) * wire::verbs_slot_bytes;
    return slots + next - wire::verbs_slot_end_bytes;
  }
  [[nodiscard]] bool is_full(std::uint32_t number) const noexcept {
    return wire::is_verbs_slot_full(word_at(end_of(number)).load(std::memory_order_acquire));
  }
};

/// The copy of a slot, aligned to the end of `bytes`.
struct SlotCopy {
  /// Fixed size of the copy of a packet with up to 16 bytes of body: it fits one cache line.
  static constexpr std::size_t few_bytes = 56;
  std::array<std::byte, wire::verbs_slot_mark_bytes + wire::verbs_max_slot_packet_bytes> bytes;
  std::span<const std::byte> packet;
  std::uint64_t end = 0;

  /// Copies the packet with this number if it is complete; it stays in its slot.
  [[nodiscard]] bool copy(const Ring& ring, std::uint32_t number, std::uint64_t cookie) noexcept {
    std::byte* const from = ring.end_of(number);
    end = word_at(from).load(std::memory_order_acquire);
    const std::size_t length = wire::verbs_slot_mark_bytes + wire::verbs_slot_bytes_of(end);
    std::byte* const to = bytes.data() + bytes.size();
    if (length <= few_bytes) {
      std::memcpy(to - few_bytes, from - few_bytes, few_bytes);
    } else {
      std::memcpy(to - length, from - length, length);
    }
    std::uint64_t front = 0;
    std::memcpy(&front, to - length, sizeof front);
    packet = {to - length + sizeof front, length - sizeof front};
    return wire::is_verbs_slot_full(end) &&
           wire::is_verbs_slot_whole(front, end, wire::verbs_slot_mark(cookie, number));
  }
  /// Copies it and frees the slot.
  [[nodiscard]] bool take(const Ring& ring, std::uint32_t number, std::uint64_t cookie) noexcept {
    if (!copy(ring, number, cookie)) return false;
    word_at(ring.end_of(number)).store(0, std::memory_order_release);
    return true;
  }
};

/// The rings of a process.
class Rings {
 public:
  explicit Rings(std::size_t most) noexcept : most_(most) {}

  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  [[nodiscard]] std::size_t count() const noexcept { return rings_.size(); }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return rings_.size() * wire::verbs_ring_bytes;
  }
  /// A free ring; null if all are lent, or the adapter cannot register more memory, which is not tried
  /// again then.
  [[nodiscard]] Ring* take(Adapter& adapter);
  void give_back(Ring& ring) noexcept { ring.lent = false; }
  /// The least recently used of the lent rings that were not used since `time` and for which `suits` is
  /// true. Null: none.
  template <class Suits>
  [[nodiscard]] Ring* idle_since(std::uint64_t time, Suits suits) noexcept {
    Ring* oldest = nullptr;
    for (const auto& ring : rings_) {
      if (!ring->lent || ring->used_at >= time || !suits(*ring)) continue;
      if (oldest == nullptr || ring->used_at < oldest->used_at) oldest = ring.get();
    }
    return oldest;
  }

 private:
  std::size_t most_;
  std::vector<std::unique_ptr<Ring>> rings_;
};

/// The gates of the rings that a process has borrowed: one page of words that peers write.
class RingEnableFlags {
 public:
  static constexpr std::size_t count = 512;

  /// A closed gate; null if none is left, or the adapter registers no memory.
  [[nodiscard]] std::uint64_t* take(Adapter& adapter);
  void give_back(std::uint64_t* gate) { free_.push_back(gate); }
  /// The remote address of a gate; an empty one for null.
  [[nodiscard]] wire::VerbsPlace place_of(const std::uint64_t* gate) const noexcept {
    if (gate == nullptr) return {};
    return {opened_.name_of(gate), opened_.rkey};
  }

 private:
  base::Pages memory_;
  MemoryRegion opened_;
  bool is_refused_ = false;
  std::vector<std::uint64_t*> free_;
};

/// A ring that this process has lent to a peer.
struct InboundRing {
  enum class State : std::uint8_t {
    lending,  ///< the peer has not answered
    closed,   ///< it sends messages
    open,     ///< it may write
    closing,  ///< it may not have seen the closed gate yet
  };
  Ring* ring = nullptr;
  State state = State::lending;
  std::uint16_t turn = 0;  ///< of the gate
  RemoteAddress gate;
  std::optional<wire::Envelope> last;  ///< envelope of the last packet, for those without a header

  [[nodiscard]] bool is_polled() const noexcept {
    return state == State::open || state == State::closing;
  }
};

/// A ring that a peer has lent to this process.
struct OutboundRing {
  RemoteAddress place;
  std::uint64_t* gate = nullptr;  ///< null: there was no room for one, the ring is not used
  std::uint64_t seen = 0;         ///< the value of the gate when it was read last
  bool is_open = false;
  std::uint8_t heard = 0;              ///< see wire::VerbsPacket
  std::uint8_t told = 0;               ///< the last value of `heard` sent to the peer
  std::optional<wire::Envelope> last;  ///< envelope of the last packet in the ring

  /// Whether a packet with this envelope can go without a header.
  [[nodiscard]] bool is_repeated(const wire::Envelope& envelope) const noexcept {
    return last && last->kind == envelope.kind && last->flags == envelope.flags &&
           last->context == envelope.context && last->tag == envelope.tag &&
           last->length == envelope.length;
  }

  /// Reads the gate. `cookie`: what it has to contain.
  [[nodiscard]] bool look(std::uint64_t cookie) noexcept {
    if (gate == nullptr) return false;
    const std::uint64_t word =
        std::atomic_ref<std::uint64_t>(*gate).load(std::memory_order_acquire);
    if (word != seen) [[unlikely]]
      see(word, cookie);
    return is_open;
  }
  /// The same; returns `heard` for the peer.
  [[nodiscard]] std::uint8_t hear(std::uint64_t cookie) noexcept {
    (void)look(cookie);
    return heard;
  }
  /// Where the last `bytes` bytes of the slot of the packet with this number lie.
  [[nodiscard]] RemoteAddress slot_end(std::uint32_t number, std::size_t bytes) const noexcept {
    const std::size_t next = (number % wire::verbs_ring_slots + 1) * wire::verbs_slot_bytes;
    return {place.address + next - bytes, place.key};
  }

 private:
  void see(std::uint64_t word, std::uint64_t cookie) noexcept;
};

}  // namespace fulmar::fabric::verbs
