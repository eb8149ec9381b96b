// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>
#include <vector>

#include "mpi/coll/calls.h"
#include "mpi/coll/node_map.h"
#include "mpi/comm/failure.h"
#include "mpi/group/group.h"
#include "mpi/rma/access_record.h"
#include "mpi/rma/adapter.h"
#include "mpi/rma/calls.h"
#include "mpi/rma/node/node_calls.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/sync/epochs.h"
#include "mpi/rma/sync/lock_queue.h"
#include "mpi/rma/sync/wait_note.h"

/// Active target synchronisation: fences, and post, start, complete and wait (MPI 5.0 sections
/// 12.5.1 and 12.5.2). A post is a bit in the control line of each origin, the end of an access epoch
/// one in that of each target. Where the line is not mapped, and where operations of the epoch
/// are requests, they are requests too: the target takes them behind all operations.
///
/// An exposure epoch that fails, because an origin has, leaves others behind that have not completed
/// their access epochs. What they complete later must not count for the next exposure epoch: requests
/// tell the number of theirs, and of those who tell by a bit the target knows that one is to come.
namespace fulmar::mpi {

bool has_posted(const Win& win, int rank) noexcept {
  if (win.targets[static_cast<std::size_t>(rank)].post != 0) return true;
  const std::uint64_t posts = win.targets[static_cast<std::size_t>(win.rank())].control->posts.load(
      std::memory_order_acquire);
  return (posts & place_bit(win.targets[static_cast<std::size_t>(rank)])) != 0;
}

void note_post(Win& win, int rank, std::uint32_t number) noexcept {
  win.target(rank).post = number;
}

void note_complete(Win& win, int rank, std::uint32_t number) noexcept {
  RmaTarget& target = win.target(rank);
  if (number != 0 && number != win.exposure.number) return;
  if (number == 0 && std::exchange(target.late, false)) return;
  if (!std::exchange(target.awaited, false)) return;
  --win.exposure.awaited;
}

namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// The ranks in the window of a group's processes.
Error ranks_of(Win& win, const Group& group, std::vector<int>& ranks) {
  for (int i = 0; i < group.size(); ++i) {
    const int rank = win.comm->rank_of(group.processes[i]);
    if (rank < 0) {
      return failure(ErrorClass::group,
                     "argument group: its rank %d is no process of the group of %s", i,
                     name_of(win));
    }
    ranks.push_back(rank);
  }
  return {};
}

/// Whether a process will begin or end no epoch any more.
bool is_gone(const Win& win, int rank) noexcept {
  return win.targets[static_cast<std::size_t>(rank)].left || has_failed(win, rank);
}

/// Whether an origin is gone whose access epoch this exposure epoch may still wait for.
bool lacks_origin(const Win& win) noexcept {
  if (win.comm->failed_process == Comm::none_failed) return false;
  for (int rank = 0; rank < win.size(); ++rank) {
    if (win.targets[static_cast<std::size_t>(rank)].awaited && is_gone(win, rank)) return true;
  }
  return false;
}

/// Whether `rank` is told of exposure epochs by its bit.
bool posts_by_bit(const Win& win, int rank) noexcept {
  const auto own = static_cast<std::size_t>(win.rank());
  return rank != win.rank() && place_bit(win.targets[own]) != 0 &&
         win.targets[static_cast<std::size_t>(rank)].control != nullptr;
}

/// Some never complete their epochs. Those who have not begun one find no post any more.
void forget_origins(Win& win) {
  const std::uint64_t own = place_bit(win.target(win.rank()));
  for (int rank = 0; rank < win.size(); ++rank) {
    RmaTarget& target = win.target(rank);
    if (!std::exchange(target.awaited, false) || has_failed(win, rank)) continue;
    if (win.exposure.unchecked) {
      target.late = true;
    } else if (posts_by_bit(win, rank)) {
      target.late = (target.control->posts.fetch_and(~own, std::memory_order_acq_rel) & own) == 0;
    } else {
      send_notice(win, rank, wire::RmaCall::post, 0);
    }
  }
  win.exposure.awaited = 0;
}

/// Waits for something that notices of other ranks bring about, by requests or in the control line,
/// or until those that should bring it are `lost`.
template <class Done, class Lost>
Error await_notices(Win& win, const WindowWait& wait, Done&& done, Lost&& lost) {
  const Comm& comm = *win.comm;
  if (win.node.calls != nullptr) win.node.calls->attend();
  win.device->wait_for_memory(
      [&]() noexcept {
        if (win.node.calls != nullptr) win.node.calls->serve();
        return done() || (comm.failed_process != Comm::none_failed && lost());
      },
      wait.note());
  return done() ? Error{} : failure_of(comm);
}

/// A barrier of ranks that put operations into each other's slots: who waits carries them out. Each
/// counts in its own control line and reads those of all others.
Error meet_on_node(Win& win) {
  std::atomic<std::uint32_t>& own = win.target(win.rank()).control->fences;
  const std::uint32_t fence = own.load(std::memory_order_relaxed) + 1;
  own.store(fence, std::memory_order_seq_cst);
  for (int rank = 0; rank < win.size(); ++rank) (void)wake_rank(win, rank);
  int next = 0;
  const WindowWait wait(win, WindowWait::For::fence);
  const auto all_here = [&]() noexcept {
    while (next < win.size()) {
      const std::uint32_t there = win.target(next).control->fences.load(std::memory_order_acquire);
      if (static_cast<std::int32_t>(there - fence) < 0) return false;
      ++next;
    }
    return true;
  };
  return await_notices(win, wait, all_here, []() noexcept { return true; });
}

/// The end of a fence: every rank has come to it.
Error meet(Win& win) {
  constexpr int most_ranks = 16;  // each reads a line of each
  const bool all_mapped =
      win.node.calls != nullptr && win.size() <= most_ranks &&
      std::all_of(win.targets.begin(), win.targets.end(),
                  [](const RmaTarget& target) { return target.control != nullptr; });
  return all_mapped ? meet_on_node(win) : barrier(*win.comm);
}

/// The number of the exposure epoch, 0: it was told by a bit.
std::uint32_t take_post(Win& win, int rank) noexcept {
  const std::uint32_t number = std::exchange(win.target(rank).post, 0);
  if (number == 0) {
    win.target(win.rank())
        .control->posts.fetch_and(~place_bit(win.target(rank)), std::memory_order_acq_rel);
  }
  return number;
}

void tell_post(Win& win, int rank) {
  const std::uint32_t number = win.exposure.number;
  if (rank == win.rank()) return note_post(win, rank, number);
  if (!posts_by_bit(win, rank)) return send_notice(win, rank, wire::RmaCall::post, number);
  win.target(rank).control->posts.fetch_or(place_bit(win.target(win.rank())),
                                           std::memory_order_seq_cst);
  (void)wake_rank(win, rank);
}

/// Tells by the bit of this rank, unless its last one has not been seen.
bool completes_by_bit(Win& win, int rank) noexcept {
  RmaTarget& target = win.target(rank);
  const std::uint64_t own = place_bit(win.target(win.rank()));
  if (target.control == nullptr || own == 0 || target.dirty || target.pending != 0) return false;
  const std::uint64_t before = target.control->completes.fetch_or(own, std::memory_order_seq_cst);
  if ((before & own) != 0) return false;
  (void)wake_rank(win, rank);
  return true;
}

/// The access epoch to `rank` is over. `number`: of its exposure epoch, or 0.
void tell_complete(Win& win, int rank, std::uint32_t number) {
  if (rank == win.rank()) return note_complete(win, rank, number);
  if (number == 0 && completes_by_bit(win, rank)) return;
  drain_adapter(win, rank);
  win.target(rank).dirty = false;  // the target waits for the operations before it takes this
  send_notice(win, rank, wire::RmaCall::complete, number);
}

/// Whether all access epochs to this exposure epoch are over.
bool all_complete(Win& win) noexcept {
  std::atomic<std::uint64_t>& told = win.target(win.rank()).control->completes;
  if (told.load(std::memory_order_acquire) != 0) {
    const std::span<const int> ranks = node_map(*win.comm).own();
    for (std::uint64_t bits = told.exchange(0, std::memory_order_acq_rel); bits != 0;
         bits &= bits - 1) {
      const auto place = static_cast<std::size_t>(std::countr_zero(bits));
      if (place < ranks.size()) note_complete(win, ranks[place], 0);
    }
  }
  return win.exposure.awaited == 0;
}

/// The exposure epoch is over.
void end_exposure(Win& win) noexcept {
  if (win.watch.check != nullptr) win.watch.check->record.forget_all();
  win.exposure.open = false;
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

Error check_exposed(const Win& win) {
  if (win.exposure.open) return {};
  return failure(ErrorClass::rma_sync,
                 "no exposure epoch of %s is open here; call MPI_Win_post first", name_of(win));
}

}  // namespace

void give_up_epochs(Win& win) {
  if (win.access == AccessEpoch::lock_all) (void)win_unlock_all(win);
  while (win.access == AccessEpoch::lock && (!win.opened.empty() || win.null_locks != 0))
    (void)win_unlock(win.opened.empty() ? MPI_PROC_NULL : win.opened.back(), win);
  if (win.access == AccessEpoch::start) {
    (void)complete_opened(win);
    close_targets(win);
  }
  if (!win.exposure.open) return;
  forget_origins(win);
  end_exposure(win);
}

void tell_leave(Win& win) {
  for (int rank = 0; rank < win.size(); ++rank) {
    if (rank != win.rank() && !is_gone(win, rank)) send_notice(win, rank, wire::RmaCall::leave, 0);
  }
}

/// The barrier comes also where this process's call is wrong: the others wait in it, and their
/// epochs are those that they asked for.
Error win_fence(int assertion, Win& win) {
  constexpr int allowed =
      MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
  Error error = check_assertion(assertion, allowed);
  const bool other = win.access != AccessEpoch::none && win.access != AccessEpoch::fence;
  if (other || win.exposure.open) {
    (void)meet(win);
    if (win.watch.check != nullptr) win.watch.check->next_fence();
    return failure(ErrorClass::rma_sync,
                   "%s has an epoch of another kind open; end it before MPI_Win_fence",
                   name_of(win));
  }
  const Error completed = complete_opened(win, wire::rma_flush_shared);
  if (error.ok()) error = completed;
  close_targets(win);
  win.fence_used = false;
  const Error met = meet(win);
  if (error.ok()) error = met;
  if (win.watch.check != nullptr) win.watch.check->next_fence();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if ((assertion & MPI_MODE_NOSUCCEED) == 0) win.access = AccessEpoch::fence;
  return error;
}

Error win_start(Group& group, int assertion, Win& win) {
  if (const Error bad = check_assertion(assertion, MPI_MODE_NOCHECK); bad.failed()) return bad;
  std::vector<int> ranks;
  if (const Error bad = ranks_of(win, group, ranks); bad.failed()) return bad;
  if (const Error bad = begin_epoch(win, AccessEpoch::start, "MPI_Win_start"); bad.failed()) {
    return bad;
  }
  win.origin.started.assign(ranks.size(), 0);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int rank = ranks[i];
    if ((assertion & MPI_MODE_NOCHECK) == 0) {
      const WindowWait wait(win, WindowWait::For::posts, rank, LockMode::shared,
                            std::span(ranks).subspan(i));
      const Error bad = await_notices(
          win, wait, [&]() noexcept { return has_posted(win, rank); },
          [&]() noexcept { return is_gone(win, rank); });
      if (bad.failed()) {
        close_targets(win);
        return bad;
      }
      win.origin.started[i] = take_post(win, rank);
    }
    mark_open(win, rank, TargetLock::none);
  }
  return {};
}

Error win_complete(Win& win) {
  if (win.access != AccessEpoch::start) {
    return failure(ErrorClass::rma_sync, "no access epoch of MPI_Win_start is open on %s",
                   name_of(win));
  }
  Error error;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (win.watch.check != nullptr) {
    error = complete_opened(win, wire::rma_flush_shared);
  } else if (win.dynamic()) {
    error = complete_opened(win);  // only the target knows what is attached
  }
  for (std::size_t i = 0; i < win.opened.size(); ++i) {
    tell_complete(win, win.opened[i], win.origin.started[i]);
  }
  for_each_opened(win, [&](int rank) {
    const Error each = complete_locally(win, rank);
    if (error.ok()) error = each;
  });
  close_targets(win);
  return error;
}

Error win_post(Group& group, int assertion, Win& win) {
  constexpr int allowed = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
  if (const Error bad = check_assertion(assertion, allowed); bad.failed()) return bad;
  if (win.exposure.open) {
    return failure(ErrorClass::rma_sync,
                   "an exposure epoch of %s is open; end it with MPI_Win_wait first", name_of(win));
  }
  if (win.access == AccessEpoch::fence && win.fence_used) {
    return failure(ErrorClass::rma_sync,
                   "operations were started on %s since MPI_Win_fence; end that epoch by another "
                   "MPI_Win_fence first",
                   name_of(win));
  }
  std::vector<int> ranks;
  if (const Error bad = ranks_of(win, group, ranks); bad.failed()) return bad;
  if (win.access == AccessEpoch::fence) close_targets(win);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  (void)all_complete(win);  // what came late for the last epoch
  win.exposure.open = true;
  win.exposure.unchecked = (assertion & MPI_MODE_NOCHECK) != 0;
  if (++win.exposure.number == 0) win.exposure.number = 1;
  win.exposure.awaited = static_cast<std::uint32_t>(ranks.size());
  for (RmaTarget& target : win.targets) target.awaited = false;
  for (const int rank : ranks) win.target(rank).awaited = true;
  if (win.exposure.unchecked) return {};
  for (const int rank : ranks) tell_post(win, rank);
  return {};
}

Error win_wait(Win& win) {
  if (const Error bad = check_exposed(win); bad.failed()) return bad;
  const WindowWait wait(win, WindowWait::For::completes);
  const Error error = await_notices(
      win, wait, [&]() noexcept { return all_complete(win); },
      [&]() noexcept { return lacks_origin(win); });
  if (error.failed()) forget_origins(win);
  end_exposure(win);
  return error;
}

Error win_test(Win& win, int& flag) {
  flag = 0;
  if (const Error bad = check_exposed(win); bad.failed()) return bad;
  const WindowWait wait(win, WindowWait::For::completes);
  if (!all_complete(win)) win.device->poll(wait.note());
  if (!all_complete(win)) {
    if (!lacks_origin(win)) return {};
    forget_origins(win);
    end_exposure(win);
    return failure_of(*win.comm);
  }
  end_exposure(win);
  flag = 1;
  return {};
}

}  // namespace fulmar::mpi
