// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"
#include "mpi/rma/win.h"
#include "wire/rma/rma_control.h"

/// The lock of one rank of a window, as wire::RmaControl describes it, and its mutex.
namespace fulmar::mpi {

enum class LockMode : std::uint8_t { shared, exclusive };

/// One ticket in the queue of a lock. Any process that maps the control line.
class LockTicket {
 public:
  LockTicket() noexcept = default;
  LockTicket(wire::RmaControl& control, LockMode mode) noexcept
      : control_(&control),
        number_(control.next.fetch_add(1, std::memory_order_seq_cst)),
        mode_(mode) {}

  /// Takes the lock if its turn has come and nobody has it ahead. To be called again and again until
  /// that is so; true from then on. The first time that a reader's turn has come the next reader's has,
  /// too: `wake_lock_waiters` has to follow.
  [[nodiscard]] bool try_take() noexcept;
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// It will never have it: the words of the lock are not what this library writes.
  [[nodiscard]] bool is_lost() const noexcept;

 private:
  [[nodiscard]] bool has_turn() const noexcept;
  [[nodiscard]] bool enter() noexcept;
  [[nodiscard]] std::uint32_t urgency() noexcept;

  wire::RmaControl* control_ = nullptr;
  std::uint64_t since_ns_ = 0;  ///< when it found the lock taken in its turn; 0: it has not
  std::uint32_t number_ = 0;
  LockMode mode_ = LockMode::shared;
  bool has_come_ = false;
  bool is_taken_ = false;
};

enum class Wake : bool { nobody, waiters };

/// What came of taking an exclusive lock without a ticket.
struct TakenAhead {
  bool taken = false;
  Wake wake = Wake::nobody;  ///< `wake_lock_waiters` has to follow
};
/// Takes the exclusive lock of a control line if it is free, though others wait whose turn it is. Not where
/// one of them has lost its patience.
[[nodiscard]] TakenAhead take_ahead(wire::RmaControl& control) noexcept;

/// The bit of a rank in the words of wire::RmaControl that have one for each rank of the node; 0: it
/// has none.
[[nodiscard]] inline std::uint64_t place_bit(const RmaTarget& target) noexcept {
  return target.place < wire::most_posting_places ? std::uint64_t{1} << target.place : 0;
}

/// Writes down that this process has a ticket of the lock of `rank`, for those who outlive it; and
/// that it has none of any lock.
inline void note_ticket(Win& win, int rank) noexcept {
  std::atomic<std::uint64_t>& locks = win.origin.control->locks;
  locks.store(locks.load(std::memory_order_relaxed) | wire::lock_bit(win.target(rank).place),
              std::memory_order_relaxed);
}
inline void forget_tickets(Win& win) noexcept {
  win.origin.control->locks.store(0, std::memory_order_relaxed);
}

/// Gives a granted lock back. With `waiters`, `wake_lock_waiters` has to follow.
[[nodiscard]] Wake release_lock(wire::RmaControl& control, LockMode mode) noexcept;

/// Whether this process knows that a rank of the window has failed.
[[nodiscard]] bool has_failed(const Win& win, int rank) noexcept;

/// Whether the turn of a ticket of the lock of `rank` may never come, because a process that has
/// failed holds the lock or stands before it in the queue. True, too, where that cannot be excluded:
/// of origins that ask the target for locks only the target knows which they are.
[[nodiscard]] bool may_be_stuck(const Win& win, int rank, std::uint32_t ticket) noexcept;
/// The turn of a ticket of the lock of `rank` will never end.
void give_up_lock(Win& win, int rank) noexcept;

/// Whether a rank that is said to hold something in the memory of a node can: it is a rank of the
/// window, and alive.
[[nodiscard]] bool may_hold(Win& win, int rank) noexcept;

/// Wakes a rank whose control line is mapped if it sleeps: what it waits for there has changed. Whether
/// it slept.
bool wake_rank(Win& win, int rank) noexcept;

/// Wakes the processes of the node that sleep and have a ticket of the lock of `rank` whose turn it
/// is now, and nobody else.
void wake_lock_waiters(Win& win, int rank) noexcept;

/// Waits in the queue of the lock of `rank`, whose control line is mapped, and takes it. Makes
/// progress meanwhile. Fails where a process has failed that may hold the lock, and (intern) where
/// the words of the lock make no sense.
[[nodiscard]] base::Error acquire_lock(Win& win, int rank, LockMode mode);

/// Holds the mutex of the accumulate operations on one rank's memory. Whoever accumulates there
/// holds it, in whatever process, so operations are atomic whatever way they take.
class AccumulateGuard {
 public:
  AccumulateGuard(Win& win, wire::RmaControl& control) noexcept : control_(control) {
    std::uint32_t expected = 0;
    const auto own = static_cast<std::uint32_t>(win.rank()) + 1;
    if (!control.accumulates.compare_exchange_strong(expected, own, std::memory_order_acquire))
        [[unlikely]] {
      wait(win, own);
    }
  }
  /// No second atomic operation, which would take a quarter of a short accumulate: a process that begins to
  /// sleep between the two lines is not woken, and looks again by itself (`look_ns`).
  ~AccumulateGuard() {
    const std::uint32_t word = control_.accumulates.load(std::memory_order_relaxed);
    control_.accumulates.store(0, std::memory_order_release);
    if ((word & wire::accumulate_waiters) != 0) [[unlikely]]
      wake();
  }
  AccumulateGuard(const AccumulateGuard&) = delete;
  AccumulateGuard& operator=(const AccumulateGuard&) = delete;

 private:
  [[gnu::noinline]] void wait(Win& win, std::uint32_t own) noexcept;
  [[gnu::noinline]] void wake() noexcept;

  wire::RmaControl& control_;
};

}  // namespace fulmar::mpi
