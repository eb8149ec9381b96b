// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "base/error.h"
#include "mpi/rma/win.h"

/// Which calls the open epochs allow (MPI 5.0 section 12.5.4).
namespace fulmar::mpi {

/// Opens the access to a target that is not open: in an epoch of MPI_Win_fence or
/// MPI_Win_lock_all. MPI_ERR_RMA_SYNC in any other case.
[[nodiscard]] base::Error open_target(Win& win, int rank);

/// Makes sure that an access epoch of the kind `next` may begin: none is open, but for one of
/// MPI_Win_fence in which nothing was done, which ends.
[[nodiscard]] base::Error begin_epoch(Win& win, AccessEpoch next, const char* what);

/// All targets are closed, and no access epoch is open.
void close_targets(Win& win) noexcept;

/// Whether `rank` has begun an exposure epoch (MPI_Win_post) for this process that it has not started
/// to access.
[[nodiscard]] bool has_posted(const Win& win, int rank) noexcept;

/// `rank` has ended an access epoch (MPI_Win_complete). `number`: of the exposure epoch that it was
/// for; 0: not told.
void note_complete(Win& win, int rank, std::uint32_t number) noexcept;
/// `rank` tells by a request that it has begun the exposure epoch with this number for this process; 0:
/// it is no longer open.
void note_post(Win& win, int rank, std::uint32_t number) noexcept;

/// For MPI_Win_free of a window of which a process has failed: ends all epochs of this process, and tells the others
/// that wait for it in MPI_Win_start and MPI_Win_wait not to.
void give_up_epochs(Win& win);
void tell_leave(Win& win);

/// Opens one target.
void mark_open(Win& win, int rank, TargetLock lock);

/// Opens one target of MPI_Win_lock_all: takes its lock, or requests it.
[[nodiscard]] base::Error open_shared(Win& win, int rank);

/// In place of a rank in World::asked_locks: the locks that operations in an epoch of
/// MPI_Win_lock_all have requested.
inline constexpr int asked_by_lock_all = -1;

/// The calling thread has asked for this lock, which its next MPI_Win_lock waits for.
void note_asked_lock(Win& win, int rank);

/// Waits for the lock of an open target that was requested, and may not be granted yet.
[[nodiscard]] base::Error await_lock(Win& win, int rank);

/// Whether this process may load and store the memory of a rank, not only by operations: its lock has to be held
/// then, not only asked for, when the call that takes it returns.
[[nodiscard]] inline bool is_loaded(const Win& win, int rank) noexcept {
  return rank == win.rank() || win.flavor == MPI_WIN_FLAVOR_SHARED ||
         win.targets[static_cast<std::size_t>(rank)].loaded;
}
/// The program is given a pointer to the memory of a rank. In a passive target epoch this waits for the lock.
[[nodiscard]] base::Error note_loads(Win& win, int rank);

/// MPI_ERR_RMA_SYNC where no epoch of MPI_Win_lock or MPI_Win_lock_all is open, which `call` needs.
[[nodiscard]] base::Error check_passive(const Win& win, const char* call);

/// MPI_ERR_ASSERT where `assertion` has other bits than `allowed`.
[[nodiscard]] base::Error check_assertion(int assertion, int allowed);

}  // namespace fulmar::mpi
