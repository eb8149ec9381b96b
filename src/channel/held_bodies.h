// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/node/shm_area.h"

/// Answers go back in the memory that the message came in.
///
/// A cache line that another core has written moves to whoever reads it; on some processors (AMD's)
/// reading takes it away from the writer, in the expectation that the reader is going to write,
/// too. A sender that writes to memory which its peer has read last therefore fetches every line
/// back first, so a body crosses twice. A sender that writes to memory which it has itself read
/// last finds it in its own cache, so a body crosses once. Decision 0010 has the figures.
///
/// So a body changes hands with its memory. A receiver that has taken a body out of a ring holds
/// the place: it announces the last ones late (`trim`), and writes the next body that it sends to
/// that peer there instead of into its own ring. The packet itself goes through its own ring as
/// always, says whose body it gives back (`lend`), and is the announcement: who takes it knows that
/// this packet of his and all before it have been taken, and has its memory back when he has read
/// the answer. When that was all there was, he begins again at the begin of his data part
/// (wire::flag_rewind), so two ranks that talk use the same few pages both ways.
///
/// What keeps an answer from being overwritten before it is read: the word that announces room
/// counts the bodies given back, too. As long as the owner has not read as many answers he takes no
/// room from that word, and he can always go on to read; nor does he give the ring back to the pool
/// (MappedChannel::give_back): whoever wants it announces everything, and lends no more of it.
namespace fulmar::channel {

/// The bodies of one ring that its receiver has taken and not announced, oldest first. Belongs to
/// the receiver, whose sends to the same peer use it.
class HeldBodies {
 public:
  /// Whoever holds more has forgotten the oldest.
  static constexpr std::uint32_t most = 32;

  struct Place {
    std::uint32_t number;  ///< of the packet whose body was there
    std::uint32_t offset;  ///< in the data part
    std::byte* at;
  };

  HeldBodies(wire::Ring& ring, std::uint32_t data_bytes) noexcept
      : ring_(&ring), data_bytes_(data_bytes) {}

  /// A body of packet `number` was taken; `before` and `begin`: the position that both sides count,
  /// before the packet and where its body begins.
  void hold(std::uint32_t number, std::uint64_t before, std::uint64_t begin,
            std::uint32_t bytes) noexcept {
    if (last_ - first_ == most) ++first_;
    held_[last_++ % most] = {before, static_cast<std::uint32_t>(begin & (data_bytes_ - 1)), bytes,
                             number};
  }
  void forget() noexcept { first_ = last_; }

  /// Forgets the oldest ones, until there are at most `bytes` of data from the first of them to
  /// `position`, and `most` packets to packet `number`.
  void trim(std::uint32_t number, std::uint64_t position, std::uint64_t bytes) noexcept {
    while (first_ != last_) {
      const Held& oldest = held_[first_ % most];
      if (number - oldest.number <= most && position - oldest.before <= bytes) return;
      ++first_;
    }
  }
  /// The first packet and position that are held; those given if there are none.
  [[nodiscard]] std::uint32_t first_number(std::uint32_t otherwise) const noexcept {
    return first_ == last_ ? otherwise : held_[first_ % most].number;
  }
  [[nodiscard]] std::uint64_t first_position(std::uint64_t otherwise) const noexcept {
    return first_ == last_ ? otherwise : held_[first_ % most].before;
  }

  /// Memory for an answer of `length` bytes: the oldest body that was as long. It and all older
  /// ones are given back with the packet that the caller sends now. None while the ring is wanted
  /// for somebody else.
  [[nodiscard]] std::optional<Place> lend(std::uint32_t length) noexcept {
    if (first_ == last_ || ring_->revoke.load(std::memory_order_relaxed) != 0) return std::nullopt;
    for (std::uint32_t i = first_; i != last_; ++i) {
      const Held& held = held_[i % most];
      if (held.bytes < length) continue;
      first_ = i + 1;
      ++lent_;
      return Place{held.number, held.offset, reinterpret_cast<std::byte*>(ring_ + 1) + held.offset};
    }
    return std::nullopt;
  }
  /// How many bodies were given back with an answer.
  [[nodiscard]] std::uint32_t lent() const noexcept { return lent_; }

 private:
  struct Held {
    std::uint64_t before;
    std::uint32_t offset;
    std::uint32_t bytes;
    std::uint32_t number;
  };

  wire::Ring* ring_;
  std::uint32_t data_bytes_;
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
  std::uint32_t lent_ = 0;
  std::array<Held, most> held_;
};

}  // namespace fulmar::channel
