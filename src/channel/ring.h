// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "base/arch/prefetch.h"
#include "channel/held_bodies.h"
#include "channel/store_choice.h"
#include "fabric/provider.h"
#include "wire/node/shm_area.h"

/// The private ring of a pair of ranks: the piggyback design of the RDMA channel paper (Liu et al.
/// 2004, 4.3) on memory that both map.
///
/// A packet is one cell: envelope and up to 48 bytes of body in one cache line, written by the
/// sender and read by the receiver, with no other line touched. The word that the receiver polls is
/// written last and carries the lap number, so the receiver writes nothing back to the cell. A
/// longer body goes to the data part, where sender and receiver compute the same positions, so that
/// no offset travels; or, if it can, to memory that the receiver gave away with a body of its own
/// (channel/held_bodies.h). The receiver announces what it consumed only after a quarter of the
/// cells, or after some of the data part: that line crosses once for 64 short packets.
///
/// Why a sender never starves: it is refused when all cells are taken, or when body and the rest at
/// the end of the data part (together at most half of it) do not fit. If the receiver has taken
/// everything, what it has not announced is less than a quarter of either, so there was room. If
/// not, it will take more and announce it.
///
/// Warm memory: as long as the receiver keeps up, bodies of up to 2 KiB use only the first 64 KiB
/// of the data part again and again, which stay in the cache, and longer ones the part that suits
/// them (warm_part). No page beyond is touched: a new page costs as much as 64 short messages. So
/// long bodies, too, begin with a small part, and get twice as much after every few laps. The
/// packet that goes back to the begin says so.
///
/// Cut-through: the packet of a long body is published before the body is complete. The sender
/// copies piece after piece and publishes its progress in `filled`; the receiver, which has matched
/// the message by then, copies each piece while the sender copies the next. A message of 16 KiB
/// takes little more than one copy instead of two. Off when ranks share cores: then the receiver
/// does not run meanwhile.
namespace fulmar::channel {

inline constexpr std::uint32_t data_align = 64;
inline constexpr std::uint32_t most_prefetched_bytes = 2048;
inline constexpr std::uint32_t warm_bytes = 64U << 10;
inline constexpr std::uint32_t cut_through_bytes = most_prefetched_bytes + 1;

/// How much of the data part bodies of this length use while the receiver keeps up. Long ones go
/// through more than the core's own cache holds, so that the receiver finds them in the shared one;
/// but a ring begins with a part in which four of them fit, and doubles it every few of its first
/// `laps`.
constexpr std::uint32_t warm_part(std::uint32_t length, std::uint64_t laps) noexcept {
  if (length <= most_prefetched_bytes) return warm_bytes;
  constexpr std::uint64_t laps_before_more = 8;
  const std::uint32_t most = length <= (8U << 10) ? 256U << 10 : 1U << 20;
  const std::uint32_t least = std::max(warm_bytes, std::bit_ceil(4 * length));
  const auto doublings =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(laps / laps_before_more, 4));
  return std::min(most, least << doublings);
}

/// How much of the data part the receiver holds for answers, if bodies of this length come: little
/// enough that the sender still keeps to its warm part.
constexpr std::uint32_t held_part(std::uint32_t length, std::uint32_t data_bytes,
                                  std::uint64_t laps) noexcept {
  return std::min(warm_part(length, laps) / 4, data_bytes / 8);
}

/// Where the piece of a long body that begins at `at` ends. Pieces are small enough that both
/// copies overlap, and large enough that the word between them, which travels once for each, does
/// not slow them down. Towards the end they shrink: nothing overlaps the receiver's copy of the
/// last.
constexpr std::uint32_t cut_through_end(std::uint32_t length, std::uint32_t at) noexcept {
  const std::uint32_t most = length <= (16U << 10)    ? 4096
                             : length <= (128U << 10) ? 16U << 10
                                                      : 32U << 10;
  const std::uint32_t rest = length - at;
  const std::uint32_t half = (rest / 2 + 1023) & ~1023U;
  return at + std::min(rest, std::clamp(half, 2048U, most));
}

/// The offset of the next body of `length` bytes, given the position that both sides count.
struct DataSpan {
  std::uint64_t begin;
  std::uint64_t end;  ///< the next position

  static DataSpan after(std::uint64_t position, std::uint32_t length,
                        std::uint64_t data_bytes) noexcept {
    const std::uint64_t need = (length + data_align - 1) / data_align * data_align;
    const std::uint64_t offset = position & (data_bytes - 1);
    const std::uint64_t skip = offset + need > data_bytes ? data_bytes - offset : 0;
    return {position + skip, position + skip + need};
  }
};

/// How often a position has gone round.
constexpr std::uint64_t laps_of(std::uint64_t position, std::uint32_t data_bytes) noexcept {
  return position >> std::countr_zero(data_bytes);
}
/// The begin of the next lap.
constexpr std::uint64_t next_lap(std::uint64_t position, std::uint64_t data_bytes) noexcept {
  return (position + data_bytes - 1) & ~(data_bytes - 1);
}

constexpr std::uint16_t lap_of(std::uint32_t position) noexcept {
  return static_cast<std::uint16_t>(position / wire::ring_cells + 1);
}

enum class CutThrough : bool { off, on };

/// Calls `fill(to, at)`, and says which way its stores may go where it asks for that.
template <class Fill>
void fill_piece(Fill& fill, std::span<std::byte> to, std::uint64_t at,
                base::StoreKind stores) noexcept {
  if constexpr (requires { fill(to, at, stores); }) {
    fill(to, at, stores);
  } else {
    fill(to, at);
  }
}

/// The sender's side.
class TxRing {
 public:
  void open(wire::Ring& ring, std::uint32_t data_bytes, CutThrough cut_through) noexcept {
    ring_ = &ring;
    data_bytes_ = data_bytes;
    cut_through_from_ = cut_through == CutThrough::on ? cut_through_bytes : UINT32_MAX;
    head_ = tail_ = 0;
    data_head_ = data_tail_ = data_checked_ = cut_through_sent_ = 0;
    taken_back_ = 0;
    answered_ = false;
  }
  void close() noexcept { ring_ = nullptr; }
  /// What this rank holds of the peer's ring; null while the peer has none.
  void use(HeldBodies* held) noexcept { held_ = held; }
  /// Packets sent since the ring was opened.
  [[nodiscard]] std::uint32_t sent() const noexcept { return head_; }
  [[nodiscard]] bool is_open() const noexcept { return ring_ != nullptr; }
  [[nodiscard]] wire::Ring& ring() noexcept { return *ring_; }

  /// Sends one packet whose body `fill(to, at)` writes, piece by piece in order: bytes [at, at +
  /// to.size()) of the body. `again` if there is no space. Requires envelope.length <=
  /// body_limit().
  template <class Fill>
  [[nodiscard, gnu::always_inline]] inline fabric::Post put(const wire::Envelope& envelope,
                                                            Fill&& fill) noexcept {
    if (head_ - tail_ == wire::ring_cells && !refresh()) [[unlikely]]
      return fabric::Post::again;
    if (envelope.length > wire::Cell::inline_bytes) {
      return put_long<std::remove_cvref_t<Fill>>(envelope, fill);
    }
    fill(std::span(cell().body.data(), envelope.length), std::uint64_t{0});
    publish(envelope, envelope.flags);
    return fabric::Post::done;
  }

  [[nodiscard]] std::uint32_t body_limit() const noexcept {
    return data_bytes_ / wire::ring_body_fraction;
  }

  /// Reads the receiver's announcement. False if nothing became free, or if replies in this
  /// ring have not been taken: then there will be space when they are.
  [[gnu::noinline]] bool refresh() noexcept {
    const std::uint64_t word = ring_->consumed.load(std::memory_order_acquire);
    if (!is_taken_back(word)) return false;
    const auto consumed = static_cast<std::uint32_t>(word);
    // The word belongs to another process: a value outside what was sent is ignored.
    if (consumed == tail_ || consumed - tail_ > head_ - tail_) return false;
    tail_ = consumed;
    data_tail_ = data_end_[(tail_ - 1) % wire::ring_cells];
    return true;
  }

  /// The answer of which the receiver of this ring says that it lies in its data part; empty if
  /// that cannot be.
  [[nodiscard]] std::span<const std::byte> answer(const wire::ReturnedBody& place,
                                                  std::uint32_t length) const noexcept {
    if (ring_ == nullptr || place.number - tail_ >= head_ - tail_ || length > data_bytes_ ||
        place.offset > data_bytes_ - length) {
      return {};
    }
    return {reinterpret_cast<const std::byte*>(ring_ + 1) + place.offset, length};
  }
  /// Whether all answers that the receiver has announced were taken; it announces them before it
  /// asks for the ring.
  [[nodiscard]] bool answers_taken() const noexcept {
    return is_taken_back(ring_->consumed.load(std::memory_order_acquire));
  }
  /// That answer was read: what was sent up to packet `number` is this rank's again.
  void take_back(std::uint32_t number) noexcept {
    tail_ = number + 1;
    data_tail_ = data_end_[number % wire::ring_cells];
    ++taken_back_;
    answered_ = true;
  }

 private:
  [[nodiscard]] wire::Cell& cell() noexcept { return ring_->cells[head_ % wire::ring_cells]; }
  [[nodiscard]] bool is_taken_back(std::uint64_t consumed) const noexcept {
    return static_cast<std::uint32_t>(consumed >> 32) == taken_back_;
  }

  [[gnu::always_inline]] void publish(const wire::Envelope& envelope, std::uint8_t flags) noexcept {
    data_end_[head_ % wire::ring_cells] = data_head_;
    cell().context = envelope.context;
    cell().tag = envelope.tag;
    cell().word.store(wire::pack_word(lap_of(head_), envelope.kind, flags, envelope.length),
                      std::memory_order_release);
    ++head_;
  }

  /// The next body will often be as long as this one: its lines, last read by the peer, are asked
  /// for now, while no process waits for them.
  void expect_another(std::uint32_t length) noexcept {
    const DataSpan next = DataSpan::after(data_head_, length, data_bytes_);
    const std::byte* at =
        reinterpret_cast<std::byte*>(ring_ + 1) + (next.begin & (data_bytes_ - 1));
    const std::uint32_t bytes = std::min(length, most_prefetched_bytes);
    for (std::uint32_t i = 0; i < bytes; i += base::arch::cache_line) {
      base::arch::prefetch_to_write(at + i);
    }
  }

  /// Whether a body goes to the begin of the data part although there may be space here: only where
  /// it fits there. Asked once for each `warm_bytes`.
  [[nodiscard]] bool should_restart(std::uint32_t length) noexcept {
    const std::uint64_t offset = data_head_ & (data_bytes_ - 1);
    const std::uint32_t part = warm_part(length, laps_of(data_head_, data_bytes_));
    if (offset < part || data_head_ < data_checked_) return false;
    data_checked_ = data_head_ + warm_bytes;
    const std::uint64_t behind = part / 4 * 3;
    if (data_head_ - data_tail_ > behind) refresh();
    const std::uint64_t used = data_head_ - data_tail_;
    return used <= behind && used + length + data_align <= offset;
  }

  /// After an answer to everything that was sent: the memory that came back with it is the best
  /// there is.
  [[nodiscard]] bool should_rewind() const noexcept {
    return answered_ && head_ == tail_ && (data_head_ & (data_bytes_ - 1)) != 0;
  }
  /// Chooses the begin of the body. Returns the flags that let the receiver do the same.
  [[nodiscard]] std::uint8_t begin_body(std::uint32_t length) noexcept {
    if (should_rewind()) {
      data_head_ = data_tail_ = data_checked_ = data_head_ & ~std::uint64_t{data_bytes_ - 1};
      return wire::flag_rewind;
    }
    if (!should_restart(length)) return 0;
    data_head_ = next_lap(data_head_, data_bytes_);
    return wire::flag_restart;
  }

  /// Envelope and fill come by value, so that the short way keeps them in registers.
  template <class Fill>
  [[gnu::noinline]] fabric::Post put_long(wire::Envelope envelope, Fill fill) noexcept {
    if (held_ != nullptr) {
      if (const auto place = held_->lend(envelope.length)) {
        const wire::ReturnedBody returned{place->number, place->offset};
        std::memcpy(cell().body.data(), &returned, sizeof returned);
        // What the receiver has just written is in this core's cache.
        put_body(envelope, wire::flag_returned, place->at, fill, base::StoreKind::cached);
        return fabric::Post::done;
      }
    }
    std::uint8_t flags = begin_body(envelope.length);
    const DataSpan span = DataSpan::after(data_head_, envelope.length, data_bytes_);
    if (span.end - data_tail_ > data_bytes_ &&
        (!refresh() || span.end - data_tail_ > data_bytes_)) {
      return fabric::Post::again;
    }
    data_head_ = span.end;
    answered_ = false;
    std::byte* const to =
        reinterpret_cast<std::byte*>(ring_ + 1) + (span.begin & (data_bytes_ - 1));
    const auto all = static_cast<std::uint8_t>(flags | wire::flag_body_in_data);
    if (envelope.length < StoreChoice::least_bytes) {
      put_body(envelope, all, to, fill, base::StoreKind::cached);
      expect_another(envelope.length);
      return fabric::Post::done;
    }
    store_choice_.write(envelope.length,
                        [&](base::StoreKind stores) { put_body(envelope, all, to, fill, stores); });
    if (envelope.length < cut_through_from_ && store_choice_.stores() == base::StoreKind::cached)
      expect_another(envelope.length);
    return fabric::Post::done;
  }

  template <class Fill>
  void put_body(const wire::Envelope& envelope, std::uint32_t flags, std::byte* to, Fill& fill,
                base::StoreKind stores) noexcept {
    const auto all = static_cast<std::uint8_t>(envelope.flags | flags);
    if (envelope.length < cut_through_from_) {
      fill_piece(fill, std::span(to, envelope.length), 0, stores);
      publish(envelope, all);
      return;
    }
    publish(envelope, all | wire::flag_cut_through);
    for (std::uint32_t at = 0; at < envelope.length;) {
      const std::uint32_t end = cut_through_end(envelope.length, at);
      fill_piece(fill, std::span(to + at, end - at), at, stores);
      ring_->filled.store(cut_through_sent_ + end, std::memory_order_release);
      at = end;
    }
    cut_through_sent_ += envelope.length;
  }

  wire::Ring* ring_ = nullptr;
  std::uint32_t data_bytes_ = 0;
  std::uint32_t cut_through_from_ = UINT32_MAX;
  std::uint32_t head_ = 0;  ///< packets sent
  std::uint32_t tail_ = 0;  ///< packets known to be taken
  std::uint64_t data_head_ = 0;
  std::uint64_t data_tail_ = 0;
  std::uint64_t data_checked_ = 0;      ///< where `should_restart` checks again
  std::uint64_t cut_through_sent_ = 0;  ///< bytes, see wire::Ring::filled
  HeldBodies* held_ = nullptr;
  std::uint32_t taken_back_ = 0;  ///< answers that lay in this ring
  bool answered_ = false;         ///< by such a one, and no body was put into this ring since
  StoreChoice store_choice_;
  std::array<std::uint64_t, wire::ring_cells> data_end_;
};

/// The receiver's side.
class RxRing {
 public:
  /// `gone`: see fabric::Body; may be null.
  RxRing(wire::Ring& ring, std::uint32_t data_bytes, std::uint32_t peer, std::uint32_t index,
         const std::atomic<std::uint32_t>* gone = nullptr)
      : ring_(&ring),
        data_bytes_(data_bytes),
        peer_(peer),
        index_(index),
        gone_(gone),
        held_(std::make_unique<HeldBodies>(ring, data_bytes)) {}

  /// This rank's own ring at the peer, which can contain replies; null while there is none.
  void set_back(TxRing* back) noexcept { back_ = back; }
  [[nodiscard]] HeldBodies* held() noexcept { return held_.get(); }

  /// Whether a packet waits. One load of the cell that the sender will write.
  [[nodiscard]] bool ready() const noexcept {
    return wire::word_lap(cell().word.load(std::memory_order_relaxed)) == lap_of(head_);
  }

  /// Hands one waiting packet to `take(envelope, body)` and moves on. Requires ready(). False if
  /// the packet is malformed: then the ring must not be read any further.
  template <class Take>
  [[nodiscard]] bool get(Take&& take) noexcept {
    const wire::Cell& cell = this->cell();  // once: after an acquire all is loaded anew
    const std::uint64_t word = cell.word.load(std::memory_order_acquire);
    const wire::Envelope envelope{wire::word_kind(word), wire::word_flags(word), cell.context,
                                  cell.tag, wire::word_length(word)};
    if (envelope.length <= wire::Cell::inline_bytes) [[likely]] {
      take(envelope, fabric::Body(std::span<const std::byte>(cell.body.data(), envelope.length)));
    } else if ((envelope.flags & wire::flag_returned) != 0) {
      if (!get_answer(envelope, take)) return false;
    } else {
      if (envelope.length > data_bytes_ / wire::ring_body_fraction) return false;
      get_body(envelope, take);
    }
    ++head_;
    return true;
  }

  /// Whether enough was taken for an announcement to the sender.
  [[nodiscard]] bool should_publish() const noexcept {
    return head_ - published_ >= wire::ring_cells / 4 || data_ - data_published_ >= data_limit_;
  }
  /// Announces the consumed packets to the sender, except the bodies that are held for replies.
  void publish() noexcept {
    held_->trim(head_, data_, held_bytes_);
    published_ = held_->first_number(head_);
    data_published_ = held_->first_position(data_);
    ring_->consumed.store(published_ | std::uint64_t{held_->lent()} << 32,
                          std::memory_order_release);
  }
  /// Whether the sender sleeps until space is announced; read after `publish` and the fence that
  /// the sender's way to sleep needs. True once for each sleep.
  [[nodiscard]] bool take_want_credit() noexcept {
    if (ring_->want_credit.load(std::memory_order_relaxed) == 0) return false;
    ring_->want_credit.store(0, std::memory_order_relaxed);
    return true;
  }

  /// Makes the ring as new, for the next sender.
  void reset() noexcept {
    for (wire::Cell& cell : ring_->cells) cell.word.store(0, std::memory_order_relaxed);
    ring_->consumed.store(0, std::memory_order_relaxed);
    ring_->want_credit.store(0, std::memory_order_relaxed);
    ring_->filled.store(0, std::memory_order_relaxed);
    ring_->revoke.store(0, std::memory_order_release);
  }

  [[nodiscard]] std::uint32_t peer() const noexcept { return peer_; }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] wire::Ring& ring() noexcept { return *ring_; }
  /// Packets taken so far; to find out which rings are idle.
  [[nodiscard]] std::uint32_t taken() const noexcept { return head_; }

 private:
  [[nodiscard]] wire::Cell& cell() const noexcept { return ring_->cells[head_ % wire::ring_cells]; }

  /// A body in the data part of this ring.
  template <class Take>
  void get_body(const wire::Envelope& envelope, Take& take) noexcept {
    if ((envelope.flags & wire::flag_rewind) != 0) {
      data_ = data_published_ = data_ & ~std::uint64_t{data_bytes_ - 1};
      held_->forget();
    }
    const std::uint64_t before = data_;
    if ((envelope.flags & wire::flag_restart) != 0) data_ = next_lap(data_, data_bytes_);
    const DataSpan span = DataSpan::after(data_, envelope.length, data_bytes_);
    data_ = span.end;
    deliver(envelope,
            {reinterpret_cast<const std::byte*>(ring_ + 1) + (span.begin & (data_bytes_ - 1)),
             envelope.length},
            take);
    held_->hold(head_, before, span.begin, static_cast<std::uint32_t>(span.end - span.begin));
    held_bytes_ = held_part(envelope.length, data_bytes_, laps_of(data_, data_bytes_));
    data_limit_ = held_bytes_ + std::min(data_bytes_ / 8, warm_bytes / 4);
  }

  /// A body in the memory that was given away with one of this rank's own.
  template <class Take>
  [[nodiscard]] bool get_answer(const wire::Envelope& envelope, Take& take) noexcept {
    wire::ReturnedBody place;
    std::memcpy(&place, cell().body.data(), sizeof place);
    if (back_ == nullptr) return false;
    const std::span<const std::byte> bytes = back_->answer(place, envelope.length);
    if (bytes.empty()) return false;
    deliver(envelope, bytes, take);
    back_->take_back(place.number);
    return true;
  }

  template <class Take>
  void deliver(const wire::Envelope& envelope, std::span<const std::byte> bytes,
               Take& take) noexcept {
    if ((envelope.flags & wire::flag_cut_through) == 0) {
      const std::size_t ahead = std::min<std::size_t>(bytes.size(), most_prefetched_bytes);
      for (std::size_t i = 0; i < ahead; i += base::arch::cache_line) {
        base::arch::prefetch_to_read(bytes.data() + i);
      }
      take(envelope, fabric::Body(bytes));
    } else {
      const fabric::Body body(bytes, ring_->filled, cut_through_taken_, gone_);
      cut_through_taken_ += envelope.length;
      take(envelope, body);
      body.await(body.size());  // whatever became of it, the sender must be out of it
    }
  }

  wire::Ring* ring_;
  std::uint32_t data_bytes_;
  std::uint32_t peer_;
  std::uint32_t index_;
  const std::atomic<std::uint32_t>* gone_;
  std::unique_ptr<HeldBodies> held_;
  TxRing* back_ = nullptr;
  std::uint32_t head_ = 0;
  std::uint32_t published_ = 0;
  std::uint64_t data_ = 0;
  std::uint64_t data_published_ = 0;
  std::uint64_t cut_through_taken_ = 0;
  std::uint32_t held_bytes_ = 0;
  std::uint32_t data_limit_ = 1;  ///< bytes not announced from which on that is worth it
};

}  // namespace fulmar::channel
