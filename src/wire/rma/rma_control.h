// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fulmar::wire {

/// The words of one rank of a window that other processes change: one cache line for each rank, in
/// front of the window's memory where the ranks of a node map it, else in the process's own memory.
/// All zero when the window is made.
///
/// The passive-target lock is a fair queue for readers and writers: who wants the lock takes a
/// ticket from `next` and is served in that order. A shared lock is granted when `shared_turn` has
/// come to the ticket, and lets the next ticket in at once; an exclusive one when `exclusive_turn`
/// has, which counts the locks that were given back.
struct alignas(64) RmaControl {
  std::atomic<std::uint32_t> next;
  std::atomic<std::uint32_t> shared_turn;
  std::atomic<std::uint32_t> exclusive_turn;
  /// Tickets that the target holds for origins which cannot map this, and that wait for their turn.
  std::atomic<std::uint32_t> proxied;
  /// The mutex of accumulate operations on this rank's memory: 0 free, else the rank in the window
  /// of who holds it, plus 1; `accumulate_waiters` is set while somebody sleeps on the word.
  std::atomic<std::uint32_t> accumulates;
  /// The rank in the window, plus 1, whose lock this rank waits for; 0: none.
  std::atomic<std::uint32_t> awaits;
};
static_assert(sizeof(RmaControl) == 64 && offsetof(RmaControl, awaits) == 20);

inline constexpr std::uint32_t accumulate_waiters = 0x80000000U;

}  // namespace fulmar::wire
