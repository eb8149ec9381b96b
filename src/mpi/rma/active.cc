// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <atomic>
#include <vector>

#include "mpi/coll/calls.h"
#include "mpi/comm/failure.h"
#include "mpi/group/group.h"
#include "mpi/rma/access_record.h"
#include "mpi/rma/adapter.h"
#include "mpi/rma/calls.h"
#include "mpi/rma/epochs.h"
#include "mpi/rma/lock_queue.h"
#include "mpi/rma/node_calls.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/wait_note.h"

/// Active target synchronisation: fences, and post, start, complete and wait (MPI 5.0 sections
/// 12.5.1 and 12.5.2). A post is a bit in the control line of each origin, the end of an access epoch
/// a count in that of each target. Where the line is not mapped, and where operations of the epoch
/// are requests, they are requests too: the target takes them behind all operations.
namespace fulmar::mpi {
namespace {

/// The bit of a rank in the words `posts` of others; 0: it has none.
std::uint64_t post_bit(const Win& win, int rank) noexcept {
  const std::uint8_t place = win.targets[static_cast<std::size_t>(rank)].place;
  return place < wire::most_posting_places ? std::uint64_t{1} << place : 0;
}

}  // namespace

bool has_posted(const Win& win, int rank) noexcept {
  if (win.targets[static_cast<std::size_t>(rank)].posts != 0) return true;
  const std::uint64_t posts = win.targets[static_cast<std::size_t>(win.rank())].control->posts.load(
      std::memory_order_acquire);
  return (posts & post_bit(win, rank)) != 0;
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

bool is_lost(const Win& win, int rank) noexcept {
  return win.device->failures().why(win.comm->routes[rank].peer) != nullptr;
}

/// Whether an origin has failed whose access epoch this exposure epoch may still wait for.
bool has_lost_origin(const Win& win) noexcept {
  if (win.comm->failed_process == Comm::none_failed) return false;
  for (int rank = 0; rank < win.size(); ++rank) {
    if (win.targets[static_cast<std::size_t>(rank)].awaited && is_lost(win, rank)) return true;
  }
  return false;
}

/// Some never complete their epochs.
void forget_origins(Win& win) noexcept {
  win.completes = win.exposed_to;
  for (RmaTarget& target : win.targets) target.awaited = false;
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
  for (int rank = 0; rank < win.size(); ++rank) wake_rank(win, rank);
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

void take_post(Win& win, int rank) noexcept {
  RmaTarget& target = win.target(rank);
  if (target.posts != 0) {
    --target.posts;
  } else {
    win.target(win.rank())
        .control->posts.fetch_and(~post_bit(win, rank), std::memory_order_acq_rel);
  }
}

void tell_post(Win& win, int rank) {
  if (rank == win.rank()) {
    ++win.target(rank).posts;
    return;
  }
  wire::RmaControl* control = win.target(rank).control;
  const std::uint64_t own = post_bit(win, win.rank());
  if (control == nullptr || own == 0) return send_notice(win, rank, wire::RmaCall::post);
  control->posts.fetch_or(own, std::memory_order_seq_cst);
  wake_rank(win, rank);
}

/// The access epoch to `rank` is over.
void tell_complete(Win& win, int rank) {
  RmaTarget& target = win.target(rank);
  if (rank == win.rank()) {
    ++win.completes;
    target.awaited = false;
  } else if (target.control != nullptr && !target.dirty && target.pending == 0) {
    target.control->completes.fetch_add(1, std::memory_order_seq_cst);
    wake_rank(win, rank);
  } else {
    drain_adapter(win, rank);
    target.dirty = false;  // the target waits for the operations before it takes this
    send_notice(win, rank, wire::RmaCall::complete);
  }
}

/// Whether all access epochs to this exposure epoch are over.
bool all_complete(Win& win) noexcept {
  std::atomic<std::uint32_t>& counted = win.target(win.rank()).control->completes;
  if (counted.load(std::memory_order_acquire) != 0) {
    win.completes += counted.exchange(0, std::memory_order_acq_rel);
  }
  return win.completes >= win.exposed_to;
}

/// The exposure epoch is over.
void end_exposure(Win& win) noexcept {
  if (win.watch.check != nullptr) win.watch.check->record.forget_all();
  win.completes -= win.exposed_to;
  win.exposed_to = 0;
  win.exposed = false;
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

Error check_exposed(const Win& win) {
  if (win.exposed) return {};
  return failure(ErrorClass::rma_sync,
                 "no exposure epoch of %s is open here; call MPI_Win_post first", name_of(win));
}

}  // namespace

/// The barrier comes also where this process's call is wrong: the others wait in it, and their
/// epochs are those that they asked for.
Error win_fence(int assertion, Win& win) {
  constexpr int allowed =
      MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
  Error error = check_assertion(assertion, allowed);
  const bool other = win.access != AccessEpoch::none && win.access != AccessEpoch::fence;
  if (other || win.exposed) {
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
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int rank = ranks[i];
    if ((assertion & MPI_MODE_NOCHECK) == 0) {
      const WindowWait wait(win, WindowWait::For::posts, rank, LockMode::shared,
                            std::span(ranks).subspan(i));
      const Error bad = await_notices(
          win, wait, [&]() noexcept { return has_posted(win, rank); },
          [&]() noexcept { return is_lost(win, rank); });
      if (bad.failed()) {
        close_targets(win);
        return bad;
      }
      take_post(win, rank);
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
  if (win.watch.check != nullptr) error = complete_opened(win, wire::rma_flush_shared);
  for (std::size_t i = 0; i < win.opened.size(); ++i) tell_complete(win, win.opened[i]);
  for (std::size_t i = 0; i < win.opened.size(); ++i) {
    const int rank = win.opened[i];
    const Error each = complete_locally(win, rank);
    if (error.ok()) error = each;
  }
  close_targets(win);
  return error;
}

Error win_post(Group& group, int assertion, Win& win) {
  constexpr int allowed = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
  if (const Error bad = check_assertion(assertion, allowed); bad.failed()) return bad;
  if (win.exposed) {
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
  win.exposed = true;
  win.exposed_to = static_cast<std::uint32_t>(ranks.size());
  for (RmaTarget& target : win.targets) target.awaited = false;
  for (const int rank : ranks) win.target(rank).awaited = true;
  if ((assertion & MPI_MODE_NOCHECK) != 0) return {};
  for (const int rank : ranks) tell_post(win, rank);
  return {};
}

Error win_wait(Win& win) {
  if (const Error bad = check_exposed(win); bad.failed()) return bad;
  const WindowWait wait(win, WindowWait::For::completes);
  const Error error = await_notices(
      win, wait, [&]() noexcept { return all_complete(win); },
      [&]() noexcept { return has_lost_origin(win); });
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
    if (!has_lost_origin(win)) return {};
    forget_origins(win);
    end_exposure(win);
    return failure_of(*win.comm);
  }
  end_exposure(win);
  flag = 1;
  return {};
}

}  // namespace fulmar::mpi
