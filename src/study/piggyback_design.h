// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "fabric/provider.h"
#include "study/design.h"
#include "study/lane.h"

/// The piggyback design (section 4.3 of the paper): the pointers travel with the data.
///
/// The ring is cut into slots of one size, and every unit begins a new one. So the receiver knows
/// where to poll before it knows anything else, and the word that it polls can never be taken for
/// what an older body left there: at this place there are only such words, and each lap of the ring
/// has a number of its own. What is written when:
///
/// * one write carries word, envelope, body, and how many slots the sender has taken from the pipe
///   of the opposite direction. Where bytes arrive in the order of their addresses the word stands
///   at both ends, and the receiver believes the slot when both are there; on memory that both map
///   the first is stored last, with release, and one is enough;
/// * how much was taken is written alone only when half of the slots were taken and nothing has
///   gone the other way meanwhile: one write for many messages, and one at a time is enough, because
///   a sender that waits has filled all slots, so that half of them will be taken.
///
/// One write a message, in both directions of a ping-pong. The paper: 7.4 us instead of 18.6. Long
/// messages gain nothing yet: all slots there is room for are composed first, and written then.
namespace fulmar::study {

/// The word of a slot: `wire::pack_word` with the lap in its last bytes, which arrive last where
/// bytes arrive in the order of their addresses. If the lap is visible, the whole word is.
constexpr std::uint64_t slot_word(std::uint64_t packed) noexcept { return std::rotl(packed, 48); }
constexpr std::uint64_t packed_of(std::uint64_t slot_word) noexcept {
  return std::rotr(slot_word, 48);
}

/// When a slot that was composed is written.
enum class Writing : std::uint8_t { at_once, with_release };

template <Lane L>
class SlotSender {
 public:
  SlotSender(L& lane, std::uint64_t ring_bytes, std::uint32_t chunk_bytes)
      : lane_(lane),
        chunk_bytes_(chunk_bytes),
        slot_bytes_(slot_size(chunk_bytes)),
        slots_(static_cast<std::uint32_t>(ring_bytes / slot_bytes_)) {
    held_.reserve(slots_);
  }

  static constexpr std::uint64_t slot_size(std::uint32_t chunk_bytes) noexcept {
    return round_up(sizeof(wire::SlotHead) + chunk_bytes + sizeof(std::uint64_t), 64);
  }
  [[nodiscard]] std::size_t body_limit() const noexcept { return chunk_bytes_; }

  /// As BasicSender::put; `taken` is what the receiver of this process has taken.
  template <class Fill>
  [[nodiscard]] fabric::Post put(wire::PipePart part, const wire::Envelope& envelope,
                                 std::uint32_t bytes, const std::atomic<std::uint64_t>& tail,
                                 std::uint64_t taken, Fill&& fill, DesignCounters& counters,
                                 Writing writing = Writing::at_once) noexcept {
    if (head_ - tail_ >= slots_) {
      learn(tail.load(std::memory_order_acquire));
      if (head_ - tail_ >= slots_) return fabric::Post::again;
    }
    if (!lane_.has_room(1 + static_cast<unsigned>(held_.size()))) return fabric::Post::again;
    const std::uint64_t at = sizeof(wire::PipeControl) + index_ * slot_bytes_;
    const std::uint64_t word =
        slot_word(wire::pack_word(lap_, envelope.kind, static_cast<std::uint8_t>(part), bytes));
    auto* head = reinterpret_cast<wire::SlotHead*>(lane_.image(at));
    head->context = envelope.context;
    head->tag = envelope.tag;
    head->tail = taken;
    std::byte* body = lane_.image(at) + sizeof *head;
    if (bytes != 0) fill(std::span(body, bytes), std::uint64_t{0});
    std::uint64_t size = sizeof *head + bytes;
    if constexpr (L::bottom_word) {
      size = round_up(size, sizeof word);
      std::memcpy(lane_.image(at) + size, &word, sizeof word);
      size += sizeof word;
    }
    advance();
    if (writing == Writing::with_release) {
      held_.push_back({at, size, word});
      return fabric::Post::done;
    }
    lane_.publish(at, size, word);
    ++counters.writes;
    return fabric::Post::done;
  }

  /// Writes all that was composed `with_release`.
  void release(DesignCounters& counters) noexcept {
    for (const Held& slot : held_) lane_.publish(slot.at, slot.bytes, slot.word);
    counters.writes += held_.size();
    held_.clear();
  }

  /// The receiver's word on how much it took came with a slot of the opposite direction.
  void learn(std::uint64_t told) noexcept {
    if (told - tail_ <= head_ - tail_) tail_ = told;
  }

 private:
  struct Held {
    std::uint64_t at;
    std::uint64_t bytes;
    std::uint64_t word;
  };

  void advance() noexcept {
    ++head_;
    if (++index_ == slots_) {
      index_ = 0;
      ++lap_;
    }
  }

  L& lane_;
  std::uint32_t chunk_bytes_;
  std::uint64_t slot_bytes_;
  std::uint32_t slots_;
  std::uint32_t index_ = 0;  ///< of the next slot
  std::uint16_t lap_ = 1;
  std::uint64_t head_ = 0;  ///< slots used
  std::uint64_t tail_ = 0;  ///< slots known to be taken
  std::vector<Held> held_;
};

template <Lane L>
class SlotReceiver {
 public:
  SlotReceiver(const std::byte* pipe, std::uint64_t ring_bytes, std::uint32_t chunk_bytes) noexcept
      : ring_(pipe + sizeof(wire::PipeControl)),
        chunk_bytes_(chunk_bytes),
        slot_bytes_(SlotSender<L>::slot_size(chunk_bytes)),
        slots_(static_cast<std::uint32_t>(ring_bytes / slot_bytes_)) {}

  /// Looks at the next unit and leaves it where it is. `their_taken` is then what the peer had
  /// taken when it wrote the unit.
  [[nodiscard]] Found look(Unit& unit, std::uint64_t& their_taken) const noexcept {
    const std::byte* at = ring_ + index_ * slot_bytes_;
    const auto& head = *reinterpret_cast<const wire::SlotHead*>(at);
    const std::uint64_t seen = head.word.load(std::memory_order_acquire);
    const std::uint64_t word = packed_of(seen);
    if (wire::word_lap(word) != lap_) return Found::nothing;
    const std::uint32_t bytes = wire::word_length(word);
    if (bytes > chunk_bytes_) return Found::nonsense;
    if constexpr (L::bottom_word) {
      const std::uint64_t bottom = round_up(sizeof head + std::uint64_t{bytes}, sizeof word);
      const auto& other = *reinterpret_cast<const std::atomic<std::uint64_t>*>(at + bottom);
      if (other.load(std::memory_order_acquire) != seen) return Found::nothing;
    }
    unit.part = static_cast<wire::PipePart>(wire::word_flags(word));
    unit.envelope = {wire::word_kind(word), 0, head.context, head.tag, bytes};
    unit.body = {at + sizeof head, bytes};
    their_taken = head.tail;
    return Found::unit;
  }
  void take() noexcept {
    ++taken_;
    if (++index_ == slots_) {
      index_ = 0;
      ++lap_;
    }
  }

  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  /// Whether a credit is due.
  [[nodiscard]] bool should_tell() const noexcept { return taken_ - told_ >= slots_ / 2; }
  void told() noexcept { told_ = taken_; }

 private:
  const std::byte* ring_;
  std::uint32_t chunk_bytes_;
  std::uint64_t slot_bytes_;
  std::uint32_t slots_;
  std::uint32_t index_ = 0;
  std::uint16_t lap_ = 1;
  std::uint64_t taken_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace fulmar::study
