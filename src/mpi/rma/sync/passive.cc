// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "mpi/comm/world.h"
#include "mpi/rma/calls.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/sync/epochs.h"
#include "mpi/rma/sync/lock_queue.h"

/// Passive target synchronisation: locks and flushes (MPI 5.0 sections 12.5.3 and 12.5.4). A lock of
/// a rank whose control line is mapped is taken here; of others it is asked for and not waited for: the
/// target carries out what follows when it has granted it. MPI_Win_lock_all takes the lock of a
/// rank with the first operation on it. Locks that also protect loads and stores of this process are
/// held when the call returns: of its own memory, of all memory that MPI_Win_allocate_shared gave, and of what
/// MPI_Win_shared_query has told the address of.
///
/// Locks are acquired in the order of the calls, also those of different windows: MPI_Win_lock and
/// MPI_Win_lock_all first wait for what their thread has requested before, which includes the locks that operations
/// in an epoch of MPI_Win_lock_all have requested so far. So programs that take several locks in the
/// same order in all processes cannot block each other.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

Error check_locks(const Win& win) {
  if (!win.no_locks) return {};
  return failure(ErrorClass::rma_sync,
                 "%s was made with the info key no_locks; it cannot be locked", name_of(win));
}

LockMode mode_of(TargetLock lock) noexcept {
  return lock == TargetLock::exclusive ? LockMode::exclusive : LockMode::shared;
}

/// The ranks whose locks were requested in an epoch of MPI_Win_lock_all and may not be granted yet.
std::vector<int> requested_by_lock_all(const Win& win) {
  std::vector<int> ranks;
  for (const int rank : win.opened) {
    const RmaTarget& target = win.targets[static_cast<std::size_t>(rank)];
    if (!win.has_lock_of(rank) && !target.granted) ranks.push_back(rank);
  }
  return ranks;
}

/// Waits until the locks that this thread has requested are granted. Errors stay with their targets.
void await_asked_locks(Library& library) {
  std::vector<World::AskedLock>& all = library.world->asked_locks;
  if (all.empty()) [[likely]]
    return;
  const auto is_own = [self = ::gettid()](const World::AskedLock& asked) {
    return asked.thread == self;
  };
  for (;;) {
    const auto found = std::find_if(all.begin(), all.end(), is_own);
    if (found == all.end()) return;
    const World::AskedLock asked = *found;
    Win& win = *asked.win;
    library.acquire(win);  // another thread may unlock and free it meanwhile
    const std::vector<int> ranks =
        asked.rank == asked_by_lock_all ? requested_by_lock_all(win) : std::vector{asked.rank};
    // Answered behind the lock.
    for (const int rank : ranks) ask_for_end(win, rank, wire::RmaCall::flush);
    win.device->wait([&]() noexcept {
      return std::all_of(ranks.begin(), ranks.end(),
                         [&](int rank) { return win.target(rank).pending == 0; });
    });
    std::erase(all, asked);
    library.release(win);
  }
}

/// Nobody needs to wait for it any more.
void forget_asked_lock(const Win& win, int rank) noexcept {
  std::vector<World::AskedLock>& all = win.library->world->asked_locks;
  if (all.empty()) [[likely]]
    return;
  std::erase_if(
      all, [&](const World::AskedLock& asked) { return asked.win == &win && asked.rank == rank; });
}

/// Takes the lock, or asks for it.
Error lock_target(Win& win, int rank, LockMode mode) {
  if (win.has_lock_of(rank)) return acquire_lock(win, rank, mode);
  note_asked_lock(win, rank);
  send_notice(
      win, rank,
      mode == LockMode::shared ? wire::RmaCall::lock_shared : wire::RmaCall::lock_exclusive);
  return {};
}

/// Ends the epoch of MPI_Win_lock where no thread has a lock or waits for one. `next`: what is open then.
void end_if_unlocked(Win& win, AccessEpoch next = AccessEpoch::none) noexcept {
  if (!win.opened.empty() || win.null_locks != 0 || win.lock_waits != 0) return;
  win.access = next;
  forget_tickets(win);
}

/// Asks that everything on the way to `rank` become complete there and, where the lock is the target's
/// to take back, for that.
void begin_unlock(Win& win, int rank) {
  RmaTarget& target = win.target(rank);
  const bool asks_for_lock = !win.has_lock_of(rank) && target.lock != TargetLock::unchecked;
  if (asks_for_lock) {
    ask_for_end(win, rank, wire::RmaCall::unlock);
  } else if (target.dirty) {
    ask_for_end(win, rank, wire::RmaCall::flush);
  }
}

/// Waits for what `begin_unlock` has asked for, and gives back the lock of a mapped control line.
Error finish_unlock(Win& win, int rank) {
  const Error error = complete_locally(win, rank);
  if (!win.has_lock_of(rank)) return error;
  const RmaTarget& target = win.target(rank);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (target.lock == TargetLock::unchecked || target.lock == TargetLock::none) return error;
  const Wake wake = release_lock(*target.control, mode_of(target.lock));
  if (wake == Wake::waiters) wake_lock_waiters(win, rank);
  // Origins that this process grants its own lock to.
  if (rank == win.rank()) (void)win.device->progress();
  return error;
}

[[gnu::cold]] Error not_locked(const Win& win, int rank) {
  return failure(ErrorClass::rma_sync, "argument rank: rank %d of %s is not locked", rank,
                 name_of(win));
}

/// As check_passive, for one target.
[[gnu::noinline]] Error check_locked(Win& win, int rank, const char* call) {
  if (const Error bad = check_passive(win, call); bad.failed()) return bad;
  if (win.access == AccessEpoch::lock_all || win.target(rank).open) return {};
  return not_locked(win, rank);
}

/// A program that flushes in a loop may wait for something that others do: requests to this process,
/// or, with more ranks than cores, what a rank does that needs this core.
void look_after_flush(Win& win) noexcept {
  constexpr std::uint32_t flushes_for_progress = 64;
  constexpr std::uint32_t flushes_for_poll = 4096;
  if (++win.direct_flushes % flushes_for_progress != 0) [[likely]]
    return;
  if (win.direct_flushes % flushes_for_poll == 0) {
    win.device->poll();
  } else {
    (void)win.device->progress();
  }
}

/// With FULMAR_CHECK=rma: what has been read is complete.
void order_reads(Win& win, int rank) {
  if (win.watch.check == nullptr || !win.target(rank).dirty) [[likely]]
    return;
  ask_for_end(win, rank, wire::RmaCall::flush, wire::rma_flush_reads);
  win.target(rank).dirty = true;  // by what was put
}

Error flush_all(Win& win, const char* call) {
  if (const Error bad = check_passive(win, call); bad.failed()) return bad;
  const Error error = complete_opened(win);
  look_after_flush(win);
  return error;
}

}  // namespace

Error win_lock(int type, int rank, int assertion, Win& win) {
  if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE) {
    return failure(ErrorClass::locktype,
                   "argument lock_type: %d is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE",
                   type);
  }
  if (const Error bad = check_assertion(assertion, MPI_MODE_NOCHECK); bad.failed()) return bad;
  if (const Error bad = check_locks(win); bad.failed()) return bad;
  const bool checked = (assertion & MPI_MODE_NOCHECK) == 0;
  if (checked && rank != MPI_PROC_NULL) await_asked_locks(*win.library);
  if (rank != MPI_PROC_NULL && win.target(rank).open && win.access == AccessEpoch::lock) {
    return failure(ErrorClass::rma_sync, "argument rank: rank %d of %s is locked already", rank,
                   name_of(win));
  }
  const AccessEpoch before = win.access;
  if (const Error bad = begin_epoch(win, AccessEpoch::lock, "MPI_Win_lock"); bad.failed()) {
    return bad;
  }
  if (rank == MPI_PROC_NULL) {
    ++win.null_locks;
    return {};
  }
  const LockMode mode = type == MPI_LOCK_SHARED ? LockMode::shared : LockMode::exclusive;
  if (checked) {
    if (const Error bad = lock_target(win, rank, mode); bad.failed()) {
      end_if_unlocked(win, before == AccessEpoch::lock ? AccessEpoch::none : before);
      return bad;
    }
  }
  const TargetLock lock = mode == LockMode::shared ? TargetLock::shared : TargetLock::exclusive;
  mark_open(win, rank, checked ? lock : TargetLock::unchecked);
  if (win.has_lock_of(rank) || !is_loaded(win, rank)) return {};
  const Error error = await_lock(win, rank);
  if (error.failed()) (void)win_unlock(rank, win);
  return error;
}

Error win_unlock(int rank, Win& win) {
  if (win.access != AccessEpoch::lock) {
    return failure(ErrorClass::rma_sync, "nothing of %s is locked by MPI_Win_lock", name_of(win));
  }
  Error error;
  if (rank == MPI_PROC_NULL) {
    if (win.null_locks == 0) {
      return failure(ErrorClass::rma_sync, "argument rank: MPI_PROC_NULL is not locked");
    }
    --win.null_locks;
  } else {
    RmaTarget& target = win.target(rank);
    if (!target.open) return not_locked(win, rank);
    begin_unlock(win, rank);
    forget_asked_lock(win, rank);
    error = finish_unlock(win, rank);
    target.open = false;
    target.lock = TargetLock::none;
    std::erase(win.opened, rank);
    ++win.unlocks;
  }
  end_if_unlocked(win);
  return error;
}

Error win_lock_all(int assertion, Win& win) {
  if (const Error bad = check_assertion(assertion, MPI_MODE_NOCHECK); bad.failed()) return bad;
  if (const Error bad = check_locks(win); bad.failed()) return bad;
  if (const Error bad = begin_epoch(win, AccessEpoch::lock_all, "MPI_Win_lock_all"); bad.failed()) {
    return bad;
  }
  win.unchecked = (assertion & MPI_MODE_NOCHECK) != 0;
  if (win.unchecked) return {};
  await_asked_locks(*win.library);
  for (int rank = 0; rank < win.size(); ++rank) {
    if (!is_loaded(win, rank)) continue;
    Error error = open_shared(win, rank);
    if (error.ok()) error = await_lock(win, rank);
    if (error.ok()) continue;
    (void)win_unlock_all(win);
    return error;
  }
  return {};
}

Error win_unlock_all(Win& win) {
  if (win.access != AccessEpoch::lock_all) {
    return failure(ErrorClass::rma_sync, "%s is not locked by MPI_Win_lock_all", name_of(win));
  }
  for (std::size_t i = 0; i < win.opened.size(); ++i) begin_unlock(win, win.opened[i]);
  forget_asked_lock(win, asked_by_lock_all);
  Error error;
  for (std::size_t i = 0; i < win.opened.size(); ++i) {
    const Error each = finish_unlock(win, win.opened[i]);
    if (error.ok()) error = each;
  }
  close_targets(win);
  forget_tickets(win);
  return error;
}

Error win_flush(int rank, Win& win) {
  if (rank == MPI_PROC_NULL) return check_passive(win, "MPI_Win_flush");
  RmaTarget& target = win.target(rank);
  if (!target.open || target.lock == TargetLock::none) [[unlikely]] {
    if (const Error bad = check_locked(win, rank, "MPI_Win_flush"); bad.failed()) return bad;
  }
  if (target.dirty) [[unlikely]]
    ask_for_end(win, rank, wire::RmaCall::flush);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  look_after_flush(win);
  return complete_locally(win, rank);
}

Error win_flush_all(Win& win) { return flush_all(win, "MPI_Win_flush_all"); }

Error win_flush_local(int rank, Win& win) {
  if (rank == MPI_PROC_NULL) return check_passive(win, "MPI_Win_flush_local");
  if (const Error bad = check_locked(win, rank, "MPI_Win_flush_local"); bad.failed()) return bad;
  order_reads(win, rank);
  look_after_flush(win);
  return complete_locally(win, rank);
}

Error win_flush_local_all(Win& win) {
  if (const Error bad = check_passive(win, "MPI_Win_flush_local_all"); bad.failed()) return bad;
  Error error;
  for_each_opened(win, [&](int rank) {
    order_reads(win, rank);
    const Error each = complete_locally(win, rank);
    if (error.ok()) error = each;
  });
  look_after_flush(win);
  return error;
}

Error win_sync(Win& win) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  win.device->poll();
  return {};
}

}  // namespace fulmar::mpi
