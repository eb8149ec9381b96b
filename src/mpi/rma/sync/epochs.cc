// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/sync/epochs.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "mpi/comm/world.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/sync/lock_queue.h"
#include "mpi/rma/sync/wait_note.h"

namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using base::failure;

namespace {

const char* text_of(AccessEpoch epoch) noexcept {
  switch (epoch) {
    case AccessEpoch::none:
      return "none";
    case AccessEpoch::fence:
      return "one of MPI_Win_fence, in which operations were started";
    case AccessEpoch::start:
      return "one of MPI_Win_start";
    case AccessEpoch::lock:
      return "one of MPI_Win_lock";
    case AccessEpoch::lock_all:
      return "one of MPI_Win_lock_all";
  }
  return "";
}

}  // namespace

void note_asked_lock(Win& win, int rank) {
  std::vector<World::AskedLock>& asked = win.library->world->asked_locks;
  const World::AskedLock own{&win, rank, ::gettid()};
  if (std::find(asked.begin(), asked.end(), own) == asked.end()) asked.push_back(own);
}

namespace {

/// Another thread waits for the lock of this target: until it has it, or has failed to get it.
[[gnu::cold]] void await_opening(Win& win, int rank) {
  const RmaTarget& target = win.target(rank);
  const WindowWait wait(win, WindowWait::For::lock, rank);
  ++win.opening_waits;
  win.device->wait([&]() noexcept { return target.lock != TargetLock::awaited; }, wait.note());
  --win.opening_waits;
}

/// Takes the shared lock of a mapped control line. It is one for all threads: with a ticket for each, another
/// process that wants the lock to itself could stand between two of them, and all three would wait for ever.
Error acquire_shared(Win& win, int rank) {
  RmaTarget& target = win.target(rank);
  target.lock = TargetLock::awaited;
  const Error error = acquire_lock(win, rank, LockMode::shared);
  target.lock = TargetLock::none;
  if (error.ok()) mark_open(win, rank, TargetLock::shared);
  if (win.opening_waits != 0) [[unlikely]] {
    win.device->wake_waiters();
    (void)win.device->progress();
  }
  return error;
}

}  // namespace

Error open_shared(Win& win, int rank) {
  const RmaTarget& target = win.target(rank);
  while (target.lock == TargetLock::awaited) await_opening(win, rank);
  if (target.open) return {};
  if (win.has_lock_of(rank)) return acquire_shared(win, rank);
  send_notice(win, rank, wire::RmaCall::lock_shared);
  note_asked_lock(win, asked_by_lock_all);
  mark_open(win, rank, TargetLock::shared);
  return {};
}

Error await_lock(Win& win, int rank) {
  RmaTarget& target = win.target(rank);
  const bool asked = target.lock == TargetLock::shared || target.lock == TargetLock::exclusive;
  if (win.has_lock_of(rank) || !asked || target.granted) return {};
  ask_for_end(win, rank, wire::RmaCall::flush);  // answered behind the lock
  const Error error = complete_locally(win, rank);
  target.granted = error.ok();
  return error;
}

Error note_loads(Win& win, int rank) {
  win.target(rank).loaded = true;
  if (win.access == AccessEpoch::lock_all && !win.unchecked && !win.target(rank).open) {
    if (const Error bad = open_shared(win, rank); bad.failed()) return bad;
  }
  return await_lock(win, rank);
}

void mark_open(Win& win, int rank, TargetLock lock) {
  RmaTarget& target = win.target(rank);
  target.open = true;
  target.granted = false;
  target.lock = lock;
  win.opened.push_back(rank);
}

Error open_target(Win& win, int rank) {
  switch (win.access) {
    case AccessEpoch::fence:
      win.fence_used = true;
      mark_open(win, rank, TargetLock::none);
      return {};
    case AccessEpoch::lock_all:
      if (!win.unchecked) return open_shared(win, rank);
      mark_open(win, rank, TargetLock::unchecked);
      return {};
    case AccessEpoch::start:
      return failure(ErrorClass::rma_sync,
                     "argument target_rank: rank %d is not in the group of MPI_Win_start on %s",
                     rank, name_of(win));
    case AccessEpoch::lock:
      return failure(ErrorClass::rma_sync,
                     "argument target_rank: rank %d of %s is not locked; call MPI_Win_lock first",
                     rank, name_of(win));
    case AccessEpoch::none:
      break;
  }
  return failure(ErrorClass::rma_sync,
                 "no access epoch to rank %d of %s is open; call MPI_Win_fence, MPI_Win_start, "
                 "MPI_Win_lock or MPI_Win_lock_all first",
                 rank, name_of(win));
}

Error begin_epoch(Win& win, AccessEpoch next, const char* what) {
  const bool idle_fence = win.access == AccessEpoch::fence && !win.fence_used;
  const bool more_locks = win.access == AccessEpoch::lock && next == AccessEpoch::lock;
  if (win.access != AccessEpoch::none && !idle_fence && !more_locks) {
    return failure(ErrorClass::rma_sync,
                   "%s cannot begin an epoch on %s while another access epoch is open: %s", what,
                   name_of(win), text_of(win.access));
  }
  win.access = next;
  return {};
}

void close_targets(Win& win) noexcept {
  for (const int rank : win.opened) {
    RmaTarget& target = win.target(rank);
    target.open = false;
    target.lock = TargetLock::none;
  }
  win.opened.clear();
  win.access = AccessEpoch::none;
  win.unchecked = false;
}

Error check_passive(const Win& win, const char* call) {
  if (win.access == AccessEpoch::lock || win.access == AccessEpoch::lock_all) return {};
  return failure(
      ErrorClass::rma_sync,
      "%s is for passive target epochs; call MPI_Win_lock or MPI_Win_lock_all on %s first", call,
      name_of(win));
}

Error check_assertion(int assertion, int allowed) {
  if ((assertion & ~allowed) == 0) return {};
  return failure(ErrorClass::assert, "argument assert: %d has bits that mean nothing here",
                 assertion);
}

}  // namespace fulmar::mpi
