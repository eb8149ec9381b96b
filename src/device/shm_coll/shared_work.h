// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "wire/node/shm_area.h"

namespace fulmar::device {

/// Work of one round of a collective area that any member may do: `claim` gives the next chunk of it to
/// whoever asks. Where ranks share cores, those that run do it all, and nobody waits until the
/// others had their turn. Used after all members have posted the round.
class SharedWork {
 public:
  static constexpr int max_chunks = 64;

  SharedWork(wire::CollSharedWork& memory, std::uint64_t round) noexcept
      : memory_(memory), round_(round) {}

  /// The next chunk of `chunks` that nobody has taken; -1 if there is none.
  [[nodiscard]] int claim(int chunks) noexcept {
    std::uint64_t next = memory_.next.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t taken = next >> 8 == round_ ? next & 0xff : 0;
      if (taken >= static_cast<std::uint64_t>(chunks)) return -1;
      if (memory_.next.compare_exchange_weak(next, round_ << 8 | (taken + 1),
                                             std::memory_order_relaxed)) {
        return static_cast<int>(taken);
      }
    }
  }
  /// A claimed chunk is finished by member `self`.
  void finish(int chunk, int self) noexcept {
    memory_.owners[static_cast<std::size_t>(chunk)].store(static_cast<std::uint8_t>(self),
                                                          std::memory_order_relaxed);
    std::uint64_t done = memory_.done.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t count = done >> 8 == round_ ? done & 0xff : 0;
      if (memory_.done.compare_exchange_weak(done, round_ << 8 | (count + 1),
                                             std::memory_order_acq_rel)) {
        return;
      }
    }
  }
  /// Whether all of them are finished.
  [[nodiscard]] bool finished(int chunks) const noexcept {
    return memory_.done.load(std::memory_order_acquire) >=
           (round_ << 8 | static_cast<std::uint64_t>(chunks));
  }
  /// Which of `members` took a chunk that is finished.
  [[nodiscard]] int owner(int chunk, int members) const noexcept {
    const int member =
        memory_.owners[static_cast<std::size_t>(chunk)].load(std::memory_order_relaxed);
    return member < members ? member : 0;
  }

 private:
  wire::CollSharedWork& memory_;
  std::uint64_t round_;
};

}  // namespace fulmar::device
