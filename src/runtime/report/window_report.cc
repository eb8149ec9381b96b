// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/report/window_report.h"

#include <utility>

#include "mpi/comm/jobs.h"
#include "mpi/rma/server/server.h"
#include "mpi/rma/sync/epochs.h"
#include "runtime/report/report_names.h"

namespace fulmar::runtime {
namespace {

using mpi::TargetLock;
using mpi::Win;
using mpi::WindowWait;

std::uint32_t process_of(const Win& win, int rank) noexcept { return win.comm->routes[rank].peer; }

std::string target_text(const Win& win, int rank) {
  return rank_text(win.comm, process_of(win, rank)) + " of " + name_of(win.comm);
}

const char* text_of(mpi::LockMode mode) noexcept {
  return mode == mpi::LockMode::exclusive ? "exclusive" : "shared";
}

WindowWaitText lock_wait(const Win& win, int rank, std::string what) {
  return {std::move(what) + target_text(win, rank),
          wire::WaitKind::lock,
          common_number(*win.comm),
          {process_of(win, rank)}};
}

/// Whether the target has not said yet that it has granted the lock it was asked for.
bool may_wait_for_lock(const Win& win, int rank) noexcept {
  const mpi::RmaTarget& target = win.targets[static_cast<std::size_t>(rank)];
  const bool asked = target.lock == TargetLock::shared || target.lock == TargetLock::exclusive;
  return !win.has_lock_of(rank) && asked && !target.granted;
}

/// The ranks of `ranks` that are waited for.
template <class Ranks, class IsAwaited>
WindowWaitText notice_wait(const Win& win, const Ranks& ranks, const char* call,
                           IsAwaited&& is_awaited) {
  constexpr std::size_t most_named = 6;
  WindowWaitText text;
  text.kind = wire::WaitKind::message;
  std::string names;
  for (const int rank : ranks) {
    if (!is_awaited(rank)) continue;
    text.peers.push_back(process_of(win, rank));
    if (text.peers.size() <= most_named) names += " " + std::to_string(rank);
  }
  if (text.peers.size() > most_named) names += " ...";
  text.what = std::string("for ") + call + (text.peers.size() == 1 ? " of rank" : " of ranks") +
              names + " on " + name_of(win.comm);
  return text;
}

/// Appends to the record while there is room.
class LockList {
 public:
  LockList(const Win& win, wire::WaitBody& body) noexcept : win_(win), body_(body) {}

  void add(int target, int holder, mpi::LockMode mode, wire::LockCall call) noexcept {
    if (body_.lock_count >= body_.locks.size()) return;
    body_.locks[body_.lock_count++] = {
        common_number(*win_.comm), process_of(win_, target), process_of(win_, holder),
        mode == mpi::LockMode::exclusive ? 1U : 0U, static_cast<std::uint32_t>(call)};
  }

 private:
  const Win& win_;
  wire::WaitBody& body_;
};

void add_locks_of(const Win& win, wire::WaitBody& body) {
  LockList list(win, body);
  const auto call =
      win.access == mpi::AccessEpoch::lock_all ? wire::LockCall::lock_all : wire::LockCall::lock;
  for (const int rank : win.opened) {
    const TargetLock lock = win.targets[static_cast<std::size_t>(rank)].lock;
    if (win.access == mpi::AccessEpoch::start) {
      list.add(rank, win.rank(), mpi::LockMode::shared, wire::LockCall::start);
    }
    if (!win.has_lock_of(rank)) continue;  // the target tells
    if (lock == TargetLock::shared) list.add(rank, win.rank(), mpi::LockMode::shared, call);
    if (lock == TargetLock::exclusive) list.add(rank, win.rank(), mpi::LockMode::exclusive, call);
  }
  if (win.server == nullptr) return;
  for (const mpi::RmaServer::Holder& holder : win.server->holders()) {
    const auto by =
        holder.mode == mpi::LockMode::exclusive ? wire::LockCall::lock : wire::LockCall::unknown;
    list.add(win.rank(), holder.rank, holder.mode, by);
  }
}

}  // namespace

WindowWaitText explain(const WindowWait& wait) {
  const Win& win = wait.win();
  switch (wait.what) {
    case WindowWait::For::lock:
      return lock_wait(win, wait.rank, std::string("for the ") + text_of(wait.mode) + " lock of ");
    case WindowWait::For::operations:
      if (may_wait_for_lock(win, wait.rank)) {
        const TargetLock lock = win.targets[static_cast<std::size_t>(wait.rank)].lock;
        return lock_wait(win, wait.rank,
                         std::string("for operations behind the ") +
                             (lock == TargetLock::shared ? "shared" : "exclusive") + " lock of ");
      }
      return {"for operations on " + target_text(win, wait.rank),
              wire::WaitKind::message,
              0,
              {process_of(win, wait.rank)}};
    case WindowWait::For::posts:
      return notice_wait(win, wait.group, "MPI_Win_post",
                         [&](int rank) { return !mpi::has_posted(win, rank); });
    case WindowWait::For::completes: {
      std::vector<int> all;
      for (int rank = 0; rank < static_cast<int>(win.targets.size()); ++rank) all.push_back(rank);
      WindowWaitText text = notice_wait(win, all, "MPI_Win_complete", [&](int rank) {
        return win.targets[static_cast<std::size_t>(rank)].awaited;
      });
      text.kind = wire::WaitKind::exposure;
      text.comm = common_number(*win.comm);
      return text;
    }
    case WindowWait::For::fence:
    case WindowWait::For::own:
      break;
  }
  return {"for operations of other ranks on " + name_of(win.comm), wire::WaitKind::other, 0, {}};
}

void add_held_locks(const mpi::Library& library, wire::WaitBody& body) {
  (void)library.any<Win>([&](const Win& win) {
    if (win.comm != nullptr && !mpi::spans_jobs(*win.comm)) add_locks_of(win, body);
    return false;
  });
}

}  // namespace fulmar::runtime
