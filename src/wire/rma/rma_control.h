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
/// has, which counts the locks that were given back. Then `holder` has to be free, too: until the one
/// whose turn it is has woken up, others may take the exclusive lock ahead of it, without a ticket. A rank
/// that sleeps comes 10 us after it was called, in which others have a hundred short locks; and it
/// waits for no more of them than it has patience for (`lock_due`).
struct alignas(64) RmaControl {
  std::atomic<std::uint32_t> next;
  std::atomic<std::uint32_t> shared_turn;
  std::atomic<std::uint32_t> exclusive_turn;
  /// Tickets that the target holds for origins which cannot map this, and that wait for their turn.
  std::atomic<std::uint32_t> proxied;
  /// The mutex of accumulate operations on this rank's memory: 0 free, else the rank in the window
  /// of who holds it, plus 1; `accumulate_waiters` is set while somebody sleeps on the word.
  std::atomic<std::uint32_t> accumulates;
  /// Locks that the target holds for such origins; with `lock_given_up`, a ticket was left in the
  /// queue after a failure, and its turn never ends.
  std::atomic<std::uint32_t> proxy_held;
  /// What this rank waits for: the rank in the window, plus 1, whose lock it is, and in the upper half
  /// the ticket; `awaits_several` of several threads; 0: nothing.
  std::atomic<std::uint64_t> awaits;
  /// The ranks of the node, a bit each by their places, which began exposure epochs for this one
  /// (MPI_Win_post) that it has not started to access.
  std::atomic<std::uint64_t> posts;
  /// Fences that this rank has come to. Of windows whose ranks look for calls in fences.
  std::atomic<std::uint32_t> fences;
  /// Who has the exclusive lock, `lock_ahead` or `lock_in_turn`, and how urgently others wait for
  /// that to end.
  std::atomic<std::uint32_t> holder;
  /// The ranks of the node, a bit each as in `posts`, whose access epochs to this one ended
  /// (MPI_Win_complete), since it looked last.
  std::atomic<std::uint64_t> completes;
  /// The ranks of the node, by `lock_bit`, whose locks this rank holds or has tickets for, or had since
  /// it had none. Written by this rank alone: others read it when it has failed.
  std::atomic<std::uint64_t> locks;
};
static_assert(sizeof(RmaControl) == 64 && offsetof(RmaControl, holder) == 44 &&
              offsetof(RmaControl, completes) == 48);

inline constexpr std::uint32_t accumulate_waiters = 0x80000000U;
inline constexpr std::uint32_t lock_given_up = 0x80000000U;
inline constexpr std::uint32_t lock_ahead = 1;    ///< without a ticket
inline constexpr std::uint32_t lock_in_turn = 2;  ///< with that ticket whose turn it is
inline constexpr std::uint32_t lock_awaited = 4;  ///< whose turn it is sleeps until it is free
inline constexpr std::uint32_t lock_due = 8;      ///< nobody may take it ahead of that one any more
inline constexpr std::uint64_t awaits_several = UINT64_MAX;

/// The bit in `locks` of a place on the node, which it shares with others on large nodes.
[[nodiscard]] constexpr std::uint64_t lock_bit(std::uint8_t place) noexcept {
  return std::uint64_t{1} << (place % 64U);
}

/// Places on the node that have a bit in `posts` and its like; ranks behind them tell by requests.
inline constexpr std::size_t most_posting_places = 64;

}  // namespace fulmar::wire
