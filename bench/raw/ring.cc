// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The least that a message can cost: a single-producer ring of slots in shared memory. A slot
// starts with a word that the receiver polls; behind it come an envelope of 16 bytes and the
// payload. The word counts messages, so a slot is never cleared. The receiver compares the envelope
// with what it expects and copies the payload out.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "team.h"
#include "tests.h"

namespace fulmar::raw {

namespace {

struct Envelope {
  std::uint32_t context;
  std::uint32_t source;
  std::uint32_t tag;
  std::uint32_t bytes;
};

struct Slot {
  std::atomic<std::uint64_t> word;
  Envelope envelope;
  std::byte payload[1];
};

constexpr std::size_t slot_head = offsetof(Slot, payload);
constexpr std::size_t ring_bytes = 256 * 1024;
constexpr std::size_t most_slots = 256;
constexpr std::size_t credits_offset = ring_bytes;
constexpr std::size_t ring_stride = ring_bytes + 4096;

/// One direction. Both sides hold one; each keeps its own position.
class Ring {
 public:
  Ring(std::byte* memory, std::size_t message_bytes)
      : memory_(memory),
        stride_((slot_head + message_bytes + line - 1) / line * line),
        slots_(std::bit_floor(std::clamp<std::size_t>(ring_bytes / stride_, 2, most_slots))) {}

  void send(const void* data, std::uint32_t bytes, std::uint32_t tag) {
    while (position_ - read_ >= slots_) {
      read_ = credits().load(std::memory_order_acquire);
      pause();
    }
    Slot& slot = current();
    slot.envelope = {1, 0, tag, bytes};
    std::memcpy(slot.payload, data, bytes);
    ++position_;
    slot.word.store(position_, std::memory_order_release);
  }

  /// Whether the message that came had the envelope that was expected.
  bool receive(void* data, std::uint32_t capacity, std::uint32_t tag) {
    Slot& slot = current();
    ++position_;
    while (slot.word.load(std::memory_order_acquire) != position_) {
      pause();
    }
    const Envelope seen = slot.envelope;
    const bool matches =
        seen.context == 1 && seen.source == 0 && seen.tag == tag && seen.bytes <= capacity;
    std::memcpy(data, slot.payload, seen.bytes);
    if (position_ - read_ >= slots_ / 4) {
      read_ = position_;
      credits().store(read_, std::memory_order_release);
    }
    return matches;
  }

 private:
  Slot& current() {
    return *reinterpret_cast<Slot*>(memory_ + (position_ & (slots_ - 1)) * stride_);
  }
  std::atomic<std::uint64_t>& credits() {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_ + credits_offset);
  }

  std::byte* memory_;
  std::size_t stride_;
  std::size_t slots_;
  std::uint64_t position_ = 0;
  std::uint64_t read_ = 0;
};

void check(bool matches) {
  if (!matches) {
    std::abort();
  }
}

}  // namespace

measure::Point ring_latency(std::size_t bytes, const measure::Budget& budget) {
  const SharedMemory memory(2 * ring_stride);
  return run_team(2, Placement::pinned, [&](const Member& member) {
    std::vector<std::byte> out(bytes + 1);
    std::vector<std::byte> in(bytes + 1);
    const auto length = static_cast<std::uint32_t>(bytes);
    const std::size_t mine = member.rank == 0 ? 0 : ring_stride;
    Ring to(memory.data() + mine, bytes);
    Ring from(memory.data() + (ring_stride - mine), bytes);
    return measure::measure(member.agree, bytes, 2, budget, [&](int count) {
      for (int i = 0; i < count; ++i) {
        if (member.rank == 0) {
          to.send(out.data(), length, 7);
          check(from.receive(in.data(), length, 7));
        } else {
          check(from.receive(in.data(), length, 7));
          to.send(out.data(), length, 7);
        }
      }
    });
  });
}

measure::Point ring_stream(std::size_t bytes, const measure::Budget& budget) {
  constexpr int messages = 64;
  const SharedMemory memory(2 * ring_stride);
  return run_team(2, Placement::pinned, [&](const Member& member) {
    std::vector<std::byte> data(bytes + 1);
    const auto length = static_cast<std::uint32_t>(bytes);
    Ring forth(memory.data(), bytes);
    Ring back(memory.data() + ring_stride, 0);
    return measure::measure(member.agree, bytes, messages, budget, [&](int count) {
      for (int i = 0; i < count * messages; ++i) {
        if (member.rank == 0) {
          forth.send(data.data(), length, 7);
        } else {
          check(forth.receive(data.data(), length, 7));
        }
      }
      if (member.rank == 0) {
        check(back.receive(data.data(), 0, 8));
      } else {
        back.send(data.data(), 0, 8);
      }
    });
  });
}

}  // namespace fulmar::raw
