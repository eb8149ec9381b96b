// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/node/shm_area.h"

/// Replies are written to the memory of the message that they answer.
///
/// A cache line that another core has written moves to the core that reads it; on some processors
/// (AMD's) reading takes it away from the writer, in the expectation that the reader is going to
/// write, too. A sender that writes to memory which its peer has read last therefore fetches every
/// line back first, so a body crosses twice. A sender that writes to memory which it has itself
/// read last finds it in its own cache, so a body crosses once. Decision 0010 has the figures.
///
/// So ownership of the memory passes with a body. A receiver that has taken a body out of a ring
/// holds the place: it announces the last ones late (`trim`), and writes the next body that it
/// sends to that peer there instead of into its own ring. The packet itself goes through its own
/// ring as always, names the body that it returns (`lend`), and is the announcement: its receiver
/// knows that this packet of its own and all before it have been taken, and owns the memory again
/// when it has read the reply. When no other body is outstanding, it starts again at the begin of
/// its data part (wire::flag_rewind), so two ranks that exchange messages use the same few pages in
/// both directions.
///
/// How a reply is protected from being overwritten before it is read: the word that announces free
/// space counts the returned bodies, too. Until the owner has read as many replies it takes no
/// space from that word, and it can always continue to read; nor does it return the ring to the
/// pool (MappedChannel::give_back): a receiver that revokes it announces everything, and lends no
/// more of it.
namespace fulmar::channel {

/// The bodies of one ring that its receiver has taken and not announced, oldest first. Belongs to
/// the receiver, whose sends to the same peer use it.
class HeldBodies {
 public:
  /// With more than this the oldest are dropped.
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
  /// for another use.
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
