// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstring>

#include "fabric/provider.h"
#include "study/design.h"
#include "study/lane.h"

/// The basic design (section 4.2 of the paper): a ring for two processes that share memory, carried
/// over to RDMA without a second thought.
///
/// The ring is a stream of bytes with a head and a tail. The receiver keeps a replica of the head,
/// the sender one of the tail, so that no side polls over the network. What is written when:
///
/// 1. the sender copies the record into its image of the ring and writes it: the first write;
/// 2. it moves its head on and writes the new one into the receiver's replica: the second. The
///    receiver polls that word. It must be seen after the data, which is what `publish` is for;
/// 3. the receiver copies the record out, moves its tail on and writes it into the sender's
/// replica:
///    the third, again behind its last read of the data.
///
/// Three writes a message where one carries anything that the program asked for, each with the
/// whole latency of the network, and between 1 and 2 a copy that overlaps nothing. The paper
/// measured 18.6 us and 230 MB/s, on an adapter that does 5.9 us and 870 MB/s.
namespace fulmar::study {

template <Lane L>
class BasicSender {
 public:
  BasicSender(L& lane, std::uint64_t ring_bytes) noexcept : lane_(lane), ring_bytes_(ring_bytes) {}

  /// The longest body of a unit.
  [[nodiscard]] std::size_t body_limit() const noexcept {
    return ring_bytes_ / 2 - sizeof(wire::RecordHead);
  }

  /// Sends one unit with a body of `bytes` bytes that `fill(to, at)` writes. `tail` is the word in
  /// which the receiver writes how much it took: not trusted, so it counts only if it is possible.
  template <class Fill>
  [[nodiscard]] fabric::Post put(wire::PipePart part, const wire::Envelope& envelope,
                                 std::uint32_t bytes, const std::atomic<std::uint64_t>& tail,
                                 Fill&& fill, DesignCounters& counters) noexcept {
    const std::uint64_t need = round_up(sizeof(wire::RecordHead) + bytes, 16);
    const std::uint64_t offset = head_ % ring_bytes_;
    const std::uint64_t skipped = offset + need > ring_bytes_ ? ring_bytes_ - offset : 0;
    if (head_ + skipped + need - tail_ > ring_bytes_) {
      const std::uint64_t told = tail.load(std::memory_order_acquire);
      if (told - tail_ <= head_ - tail_) tail_ = told;
      if (head_ + skipped + need - tail_ > ring_bytes_) return fabric::Post::again;
    }
    if (!lane_.has_room(3)) return fabric::Post::again;
    if (skipped != 0) {
      const wire::RecordHead skip{0, 0, static_cast<std::uint8_t>(wire::PipePart::skip), 0, 0, 0};
      write(skip, 0, [](auto, auto) {}, counters);
      head_ += skipped;
    }
    const wire::RecordHead head{bytes,
                                static_cast<std::uint8_t>(envelope.kind),
                                static_cast<std::uint8_t>(part),
                                0,
                                envelope.context,
                                envelope.tag};
    write(head, bytes, fill, counters);
    head_ += need;
    lane_.publish(offsetof(wire::PipeControl, head), sizeof head_, head_);
    ++counters.writes;
    return fabric::Post::done;
  }

 private:
  template <class Fill>
  void write(const wire::RecordHead& head, std::uint32_t bytes, Fill&& fill,
             DesignCounters& counters) noexcept {
    const std::uint64_t at = sizeof(wire::PipeControl) + head_ % ring_bytes_;
    std::memcpy(lane_.image(at), &head, sizeof head);
    if (bytes != 0) fill(std::span(lane_.image(at) + sizeof head, bytes), std::uint64_t{0});
    lane_.write(at, sizeof head + bytes);
    ++counters.writes;
  }

  L& lane_;
  std::uint64_t ring_bytes_;
  std::uint64_t head_ = 0;  ///< bytes written
  std::uint64_t tail_ = 0;  ///< bytes known to be taken
};

/// Where bytes arrive one after the other (`bottom_word`) the head may be read with the front bytes
/// of its new value alone. Bytes come in the order of their addresses and the lowest is the
/// lowest-order one, so such a head is at most the new one: the data before it are there, but it
/// may be in the middle of a record, or behind what was taken. Then nothing is there yet. (The tail
/// is torn likewise; the sender ignores one that is behind, and one in between is true.)
template <Lane L>
class BasicReceiver {
 public:
  BasicReceiver(const std::byte* pipe, std::uint64_t ring_bytes) noexcept
      : pipe_(pipe), ring_bytes_(ring_bytes) {}

  /// Looks at the next unit and leaves it where it is.
  [[nodiscard]] Found look(Unit& unit) noexcept {
    const auto& control = *reinterpret_cast<const wire::PipeControl*>(pipe_);
    for (;;) {
      const std::uint64_t waiting = control.head.load(std::memory_order_acquire) - taken_;
      if (waiting == 0) return Found::nothing;
      if (static_cast<std::int64_t>(waiting) < 0) return incomplete;
      if (waiting > ring_bytes_ || waiting % 16 != 0) return Found::nonsense;
      const std::uint64_t offset = taken_ % ring_bytes_;
      const std::byte* at = pipe_ + sizeof(wire::PipeControl) + offset;
      wire::RecordHead head;
      std::memcpy(&head, at, sizeof head);
      if (head.part == static_cast<std::uint8_t>(wire::PipePart::skip)) {
        if (offset == 0 || ring_bytes_ - offset >= waiting)
          return offset == 0 ? Found::nonsense : incomplete;
        taken_ += ring_bytes_ - offset;
        continue;
      }
      size_ = round_up(sizeof head + std::uint64_t{head.length}, 16);
      if (size_ > ring_bytes_ - offset) return Found::nonsense;
      if (size_ > waiting) return incomplete;
      unit.part = static_cast<wire::PipePart>(head.part);
      unit.envelope = {static_cast<wire::PacketKind>(head.kind), 0, head.context, head.tag,
                       head.length};
      unit.body = {at + sizeof head, head.length};
      return Found::unit;
    }
  }
  /// Advances behind the unit that `look` found.
  void take() noexcept { taken_ += size_; }

  /// The credit for the sender, and whether it is due: always.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] bool should_tell() const noexcept { return taken_ != told_; }
  void told() noexcept { told_ = taken_; }

 private:
  /// What a head means that fits to no record.
  static constexpr Found incomplete = L::bottom_word ? Found::nothing : Found::nonsense;

  const std::byte* pipe_;
  std::uint64_t ring_bytes_;
  std::uint64_t taken_ = 0;
  std::uint64_t told_ = 0;
  std::uint64_t size_ = 0;  ///< of the unit that was looked at
};

}  // namespace fulmar::study
