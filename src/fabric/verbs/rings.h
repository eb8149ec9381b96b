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

/// Short packets written into memory that the receiver looks at.
///
/// **Why.** A message uses up a buffer and brings a completion: the adapter looks for the buffer
/// and writes the completion, the receiver asks for it, finds the peer by its queue, and posts the
/// buffer again. A write into memory that the receiver knows needs none of it (the fast path of the
/// papers). Such memory is somebody's own, so it is not lent to everybody.
///
/// **Lending.** A receiver lends a ring to a peer from which `shorts_until_ring` packets came that
/// would have fitted, without a sleep of the receiver in between. It has `most` rings of 16 KiB,
/// each made when it is first needed: silent peers cost nothing, and the words that are looked at
/// are `most` at the most, whatever the size of the job. Where all are lent, one that was not used
/// at all while the other peer sent its packets is taken back, of several the one that was used
/// longest ago; else nobody loses one, so peers that talk equally much do not take turns at losing
/// theirs. Only a ring whose borrower is known to write into it no more can be taken back. A
/// borrower that computes may not answer for long: then another one is asked, so one such peer does
/// not keep all other rings where they are.
///
/// **Order and room.** The packets of a pair have one row of numbers, however they travel, and at
/// most a window of them is on the way. A ring has as many slots, so the number of a packet chooses
/// its slot, which is free; and the receiver looks at one slot of a ring, that of the next number.
/// Whether the next packet comes in the ring or as a message is seen from where it is found. Writes
/// and messages of a queue are carried out in their order; so what is in the ring before a message
/// is told of, is taken before it (`Messages::take`).
///
/// **Sleeping.** What is written wakes nobody. So a receiver that sleeps must have all peers send
/// messages, and a peer must know that when it sends, also one that has computed for long and has
/// not looked at anything since. Therefore each lent ring has a *gate*, a word in the memory of the
/// sender, which the receiver writes to: open (I look at the ring) or closed (send messages). The
/// sender looks at the word before each packet; that is a load. Before it sleeps, the receiver
/// closes the gates that are open, and looks at the rings once more.
///
/// A packet can cross the closing of its gate on the way, and no order of the adapter says when
/// that has become impossible. So each packet tells which turn of the gate its sender has seen last
/// (`heard`): the closing is complete when one comes that has seen it. Until then the receiver goes
/// on looking at the ring, and sleeps shortly: as long as it has slept since, but at least 0.1 ms
/// and at most 0.25 s (Messages::longest_doze_ns). A packet that crossed the closing is found after
/// twice the time that it was late, and one that was sent later wakes the receiver at once, because
/// its sender saw the gate. A sender that has nothing to send looks at its gates now and then, and
/// before it sleeps itself, and then tells that it has heard.
///
/// A gate is opened again under the same condition as a ring is lent: a pair that sends a few
/// packets between sleeps goes on with messages, and turns no gates.
///
/// **Headers.** A packet whose envelope is that of the one before it in the ring goes without, and
/// eight bytes take 24: messages cost by the byte.
///
/// **Half a packet** is one whose bytes have not all come. Rings are lent and used only by processes
/// whose adapter is known to place bytes in order (placement.h), and both ends of a packet are marked
/// (wire/verbs/verbs_ring.h). One that lacks an end is looked at once with each look of the process,
/// until it is whole; no time is spent on waiting, and all else goes on. What is told of behind it
/// stands for it, too: if it is not whole by then, that has a wrong number. Other adapters send
/// messages.
///
/// **Who lies.** A slot is copied before it is looked at. What somebody without the cookie writes
/// there never becomes a packet, and is written over by the peer's, or stays in its way. A gate
/// shows the cookie of its direction, and counts as closed if it does not.
namespace fulmar::fabric::verbs {

/// A word that an adapter writes to, or has written.
inline std::atomic_ref<std::uint64_t> word_at(std::byte* at) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at));
}

/// How a packet has come.
enum class Way : std::uint8_t { message, ring };

/// Memory that is lent to one peer at a time.
struct Ring {
  base::Pages memory;
  MemoryRegion opened;
  std::byte* slots = nullptr;
  std::uint32_t borrower = 0;  ///< rank; means something while it is lent
  bool lent = false;
  std::uint64_t used_at = 0;  ///< by the clock of Messages::count_short

  [[nodiscard]] wire::VerbsPlace place() const noexcept {
    return {opened.name_of(slots), opened.rkey};
  }
  /// The end of the slot of the packet with this number; the packet lies ahead of it.
  [[nodiscard]] std::byte* end_of(std::uint32_t number) const noexcept {
    const std::size_t next = (number % wire::verbs_ring_slots + 1) * wire::verbs_slot_bytes;
    return slots + next - wire::verbs_slot_end_bytes;
  }
  [[nodiscard]] bool is_full(std::uint32_t number) const noexcept {
    return wire::is_verbs_slot_full(word_at(end_of(number)).load(std::memory_order_acquire));
  }
};

/// What was copied out of a slot: what lay ahead of its end lies at the end of `bytes`.
struct SlotCopy {
  /// So much is copied at once: a packet with up to 16 bytes of body, in one line of the cache.
  static constexpr std::size_t few_bytes = 56;
  std::array<std::byte, wire::verbs_slot_mark_bytes + wire::verbs_max_slot_packet_bytes> bytes;
  std::span<const std::byte> packet;
  std::uint64_t end = 0;

  /// Copies the packet with this number if all of it has come; it stays in its slot.
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
  /// An empty ring that nobody has; null where all are lent, or the adapter opens no more memory,
  /// after which it is not asked again.
  [[nodiscard]] Ring* take(Adapter& adapter);
  void give_back(Ring& ring) noexcept { ring.lent = false; }
  /// Of those that are lent, were not used at `time` or later, and suit: the one that was used
  /// longest ago. Null: none.
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

/// The gates of the rings that a process was lent: one page of words that peers write to.
class RingEnableFlags {
 public:
  static constexpr std::size_t count = 512;

  /// A closed gate; null where there is no more, or the adapter opens no memory.
  [[nodiscard]] std::uint64_t* take(Adapter& adapter);
  void give_back(std::uint64_t* gate) { free_.push_back(gate); }
  /// What a peer is told about a gate; no place for null.
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
    closing,  ///< it may not have heard yet
  };
  Ring* ring = nullptr;
  State state = State::lending;
  std::uint16_t turn = 0;  ///< of the gate
  RemoteAddress gate;
  std::optional<wire::Envelope> last;  ///< of a packet in the ring, for bare ones

  [[nodiscard]] bool is_looked_at() const noexcept {
    return state == State::open || state == State::closing;
  }
};

/// A ring that a peer has lent to this process.
struct OutboundRing {
  RemoteAddress place;
  std::uint64_t* gate = nullptr;  ///< null: there was no room for one, the ring is not used
  std::uint64_t seen = 0;         ///< the gate's word when it was looked at last
  bool is_open = false;
  std::uint8_t heard = 0;              ///< see wire::VerbsPacket
  std::uint8_t told = 0;               ///< the last that the peer was told
  std::optional<wire::Envelope> last;  ///< of a packet in the ring

  /// Whether a packet with this envelope can go without a header.
  [[nodiscard]] bool is_repeated(const wire::Envelope& envelope) const noexcept {
    return last && last->kind == envelope.kind && last->flags == envelope.flags &&
           last->context == envelope.context && last->tag == envelope.tag &&
           last->length == envelope.length;
  }

  /// Looks at the gate. `cookie`: what the peer has to show.
  [[nodiscard]] bool look(std::uint64_t cookie) noexcept {
    if (gate == nullptr) return false;
    const std::uint64_t word =
        std::atomic_ref<std::uint64_t>(*gate).load(std::memory_order_acquire);
    if (word != seen) [[unlikely]]
      see(word, cookie);
    return is_open;
  }
  /// The same; what to tell the peer of it.
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
