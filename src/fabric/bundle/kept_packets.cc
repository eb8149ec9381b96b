// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/bundle/kept_packets.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/copy.h"
#include "fabric/bundle/config.h"

/// The packets lie one behind the other in one block. What is acknowledged leaves a gap at its
/// front; the rest moves there when the block is full and half of it is gap, so a byte is moved
/// once on average. An empty block starts again at its front: a pair that talks in turn never
/// moves anything.
namespace fulmar::fabric::bundle {
namespace {

constexpr std::size_t least_bytes = 4096;

constexpr std::size_t rounded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

}  // namespace

std::size_t KeptPackets::step_of(const Record& record) noexcept {
  return rounded(sizeof(Record)) + rounded(record.bytes);
}

KeptPackets::Record KeptPackets::record_at(std::size_t place) const noexcept {
  Record record;
  std::memcpy(&record, memory_.get() + place, sizeof record);
  return record;
}

bool KeptPackets::reserve(std::size_t bytes, Rank rank) {
  if (empty()) begin_ = unsent_begin_ = end_ = 0;
  if (capacity_ - end_ >= bytes) return true;
  const std::size_t used = end_ - begin_;
  std::size_t wanted = capacity_;
  if (begin_ < used || capacity_ - used < bytes) {
    wanted = std::bit_ceil(std::max(least_bytes, used + bytes));
    const std::size_t more = wanted - capacity_;
    const bool fits = wanted <= most_bytes && budget_->used_bytes + more <= budget_->limit_bytes;
    if (!fits && rank == Rank::ordinary) return false;
    auto larger = std::make_unique_for_overwrite<std::byte[]>(wanted);
    if (used != 0) std::memcpy(larger.get(), memory_.get() + begin_, used);
    memory_ = std::move(larger);
    capacity_ = wanted;
    budget_->used_bytes += more;
  } else {
    std::memmove(memory_.get(), memory_.get() + begin_, used);
  }
  unsent_begin_ -= begin_;
  last_begin_ -= begin_;
  end_ -= begin_;
  begin_ = 0;
  return true;
}

bool KeptPackets::add(const wire::Envelope& envelope, wire::BundleWhat what,
                      std::span<const std::byte> body, Rank rank) {
  if (rank == Rank::ordinary && count() >= most_packets) return false;
  Record record;
  record.envelope = envelope;
  record.envelope.length += static_cast<std::uint32_t>(header_bytes);
  record.bytes = static_cast<std::uint32_t>(header_bytes + body.size());
  if (!reserve(step_of(record), rank)) return false;
  wire::BundlePacket head;
  head.number = numbers_.next();
  numbers_.advance();
  head.what = static_cast<std::uint8_t>(what);
  last_begin_ = end_;
  std::byte* at = memory_.get() + end_;
  end_ += step_of(record);
  std::memcpy(at, &record, sizeof record);
  at += rounded(sizeof record);
  std::memcpy(at, &head, sizeof head);
  if (!body.empty()) base::copy_bytes(at + sizeof head, body.data(), body.size());
  return true;
}

void KeptPackets::take_back() noexcept {
  numbers_.retract();
  end_ = last_begin_;
}

KeptPackets::Packet KeptPackets::first_unsent() noexcept {
  const Record record = record_at(unsent_begin_);
  return {record.envelope, {memory_.get() + unsent_begin_ + rounded(sizeof record), record.bytes}};
}

void KeptPackets::note_sent() noexcept {
  unsent_begin_ += step_of(record_at(unsent_begin_));
  ++cursor_;
}

void KeptPackets::rewind() noexcept {
  cursor_ = numbers_.acknowledged();
  unsent_begin_ = begin_;
}

void KeptPackets::begin_again(bool (*needed)(wire::PacketKind kind) noexcept) {
  KeptPackets again(*budget_);
  for (std::size_t at = begin_; at != end_;) {
    const Record record = record_at(at);
    const std::span<const std::byte> bytes(memory_.get() + at + rounded(sizeof record),
                                           record.bytes);
    at += step_of(record);
    if (!needed(record.envelope.kind)) continue;
    wire::Envelope envelope = record.envelope;
    envelope.length -= static_cast<std::uint32_t>(header_bytes);
    const auto head = wire::decode_bundle_packet(bytes);
    // Cannot fail: Rank::own is always taken.
    static_cast<void>(again.add(envelope, static_cast<wire::BundleWhat>(head->what),
                                bytes.subspan(header_bytes), Rank::own));
  }
  std::swap(memory_, again.memory_);
  std::swap(capacity_, again.capacity_);
  begin_ = again.begin_;
  unsent_begin_ = again.unsent_begin_;
  last_begin_ = again.last_begin_;
  end_ = again.end_;
  numbers_ = again.numbers_;
  cursor_ = 0;
}

bool KeptPackets::acknowledge(std::uint32_t number) noexcept {
  std::uint32_t first = numbers_.acknowledged();
  if (!numbers_.acknowledge(number)) return false;
  for (; first != numbers_.acknowledged(); ++first) {
    begin_ += step_of(record_at(begin_));
    // Sent before a rewind.
    if (cursor_ == first) {
      ++cursor_;
      unsent_begin_ = begin_;
    }
  }
  if (empty() && budget_->is_scarce()) {
    const SendSequence numbers = numbers_;
    clear();
    numbers_ = numbers;
    cursor_ = numbers.next();
  }
  return true;
}

void KeptPackets::clear() noexcept {
  budget_->used_bytes -= capacity_;
  memory_.reset();
  capacity_ = begin_ = unsent_begin_ = last_begin_ = end_ = 0;
  numbers_ = {};
  cursor_ = 0;
}

}  // namespace fulmar::fabric::bundle
