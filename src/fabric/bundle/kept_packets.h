// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fabric/connection/sequence.h"
#include "wire/bundle/bundle_packet.h"
#include "wire/cell.h"

namespace fulmar::fabric::bundle {

/// Memory for packets of all peers, in bytes allocated.
struct Budget {
  std::size_t limit_bytes = 0;
  std::size_t used_bytes = 0;

  /// Above half of the limit peers are asked to acknowledge at once, so that packets whose
  /// acknowledgement was not requested cannot use up the rest.
  [[nodiscard]] bool is_scarce() const noexcept { return used_bytes * 2 > limit_bytes; }
};

/// Copies of the packets to one peer that keep order, each with its header, until the peer has
/// acknowledged them. Those at the front were sent, those behind were not. Numbers count from 0,
/// modulo 2^32.
class KeptPackets {
 public:
  /// A pair has no more than this under way.
  static constexpr std::size_t most_bytes = 2U << 20;
  static constexpr std::uint32_t most_packets = 2048;

  /// A kept packet. Header and body are one run of bytes, valid until the next change.
  struct Packet {
    wire::Envelope envelope;  ///< of the header and the body
    std::span<std::byte> bytes;
  };

  /// The budget outlives this.
  explicit KeptPackets(Budget& budget) noexcept : budget_(&budget) {}
  ~KeptPackets() { clear(); }
  KeptPackets(const KeptPackets&) = delete;
  KeptPackets& operator=(const KeptPackets&) = delete;

  [[nodiscard]] bool empty() const noexcept { return numbers_.in_flight() == 0; }
  [[nodiscard]] std::uint32_t count() const noexcept { return numbers_.in_flight(); }
  [[nodiscard]] std::uint32_t next_number() const noexcept { return numbers_.next(); }
  [[nodiscard]] bool has_unsent() const noexcept { return cursor_ != numbers_.next(); }
  [[nodiscard]] std::uint32_t unsent_count() const noexcept { return numbers_.next() - cursor_; }
  [[nodiscard]] std::uint32_t sent_count() const noexcept {
    return cursor_ - numbers_.acknowledged();
  }

  /// Packets of the device wait at the limits; control packets of the bundle are few, and are always
  /// taken.
  enum class Rank : std::uint8_t { ordinary, own };
  /// Copies a packet to the end, with this `what` and the next number in its header, and
  /// envelope.length grown by the header's. False if there is no room.
  [[nodiscard]] bool add(const wire::Envelope& envelope, wire::BundleWhat what,
                         std::span<const std::byte> body, Rank rank);
  /// Takes the last packet away again, which was not sent.
  void take_back() noexcept;

  /// The first one that was not sent; there has to be one.
  [[nodiscard]] Packet first_unsent() noexcept;
  void note_sent() noexcept;
  /// All are to be sent again.
  void rewind() noexcept;

  /// The peer has taken none of them: those of kinds that are `needed` are sent again, numbered from 0
  /// on; the others are discarded.
  void begin_again(bool (*needed)(wire::PacketKind kind) noexcept);

  /// The peer has all before `number`. False if there are no such packets.
  [[nodiscard]] bool acknowledge(std::uint32_t number) noexcept;
  /// Discards all packets and resets the numbers.
  void clear() noexcept;

 private:
  struct Record {
    wire::Envelope envelope;
    std::uint32_t bytes = 0;  ///< of what follows, header included
  };
  [[nodiscard]] bool reserve(std::size_t bytes, Rank rank);
  [[nodiscard]] Record record_at(std::size_t place) const noexcept;
  [[nodiscard]] static std::size_t step_of(const Record& record) noexcept;

  Budget* budget_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;         ///< of the first packet
  std::size_t unsent_begin_ = 0;  ///< of packet `cursor_`
  std::size_t last_begin_ = 0;    ///< of the last packet
  std::size_t end_ = 0;
  SendSequence numbers_;
  std::uint32_t cursor_ = 0;  ///< of the first packet that was not sent
};

}  // namespace fulmar::fabric::bundle
