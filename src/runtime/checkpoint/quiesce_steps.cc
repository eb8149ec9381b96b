// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/checkpoint/quiesce_steps.h"

#include <sched.h>

#include <algorithm>
#include <ctime>

namespace fulmar::runtime {
namespace {

using base::ErrorClass;

/// Ranks come at about the same time, or one comes much later: then the others give their cores away.
constexpr int looks_before_naps = 2000;
constexpr timespec nap{0, 200'000};

}  // namespace

bool QuiesceSteps::reached(std::uint32_t step) const noexcept {
  return std::ranges::all_of(job_.records(), [step](const wire::RankRecord& record) {
    return record.quiesce_step.load(std::memory_order_acquire) >= step;
  });
}

base::Error QuiesceSteps::check_deaths() const {
  if (job_.failed_ranks() == 0) return {};
  const std::vector<Job::Death> dead = job_.deaths();
  return base::failure(ErrorClass::proc_failed,
                       "rank %u of the job has died, so there is no checkpoint of all ranks",
                       dead.empty() ? 0 : dead.front().rank);
}

base::Error QuiesceSteps::check() const {
  if (base::Error error = check_deaths(); error.failed()) return error;
  for (const wire::RankRecord& record : job_.records()) {
    const wire::RankState state = wire::state_of(record);
    const bool late = record.quiesce_step.load(std::memory_order_acquire) < step_;
    // A rank with closed networks is `finalized`, too, but it has come as far as all others.
    const bool left = state == wire::RankState::finalized || state == wire::RankState::exited;
    if (!late || !left) continue;
    // It may have died since the first look; mpiexec announces that before it notes the end.
    if (base::Error error = check_deaths(); error.failed()) return error;
    return base::failure(ErrorClass::other,
                         "rank %u has left MPI or ended; all ranks of the job have to call this",
                         record.rank);
  }
  return {};
}

base::Error QuiesceSteps::wait(const std::function<bool()>& done, const Poll& poll) const {
  for (int looks = 0; !done(); ++looks) {
    poll();
    if (base::Error error = check(); error.failed()) return done() ? base::Error{} : error;
    if (looks < looks_before_naps) {
      ::sched_yield();
    } else {
      ::nanosleep(&nap, nullptr);
    }
  }
  return {};
}

void QuiesceSteps::reach_next(wire::RankRecord& own) noexcept {
  own.quiesce_step.store(++step_, std::memory_order_release);
}

base::Error QuiesceSteps::meet(const Poll& poll) {
  reach_next(job_.own_record());
  return wait([this] { return reached(step_); }, poll);
}

/// The second meeting keeps a note until all have read it.
base::Result<QuiesceSteps::Note> QuiesceSteps::exchange(std::uint32_t own, const Poll& poll) {
  job_.own_record().quiesce_note.store(own, std::memory_order_relaxed);
  if (base::Error error = meet(poll); error.failed()) return error;
  Note found;
  for (const wire::RankRecord& record : job_.records()) {
    if (found.value != 0) break;
    found = {record.rank, record.quiesce_note.load(std::memory_order_relaxed)};
  }
  if (base::Error error = meet(poll); error.failed()) return error;
  return found;
}

base::Error QuiesceSteps::count_markers(std::uint32_t sent,
                                        const std::function<std::uint32_t()>& taken,
                                        const Poll& poll) {
  wire::RankRecord& own = job_.own_record();
  own.markers_sent.fetch_add(sent, std::memory_order_relaxed);
  if (base::Error error = meet(poll); error.failed()) return error;
  const auto all_taken = [this] {
    std::uint32_t under_way = 0;
    for (const wire::RankRecord& record : job_.records()) {
      under_way += record.markers_sent.load(std::memory_order_relaxed);
      under_way -= record.markers_taken.load(std::memory_order_acquire);
    }
    return under_way == 0;
  };
  const auto look = [&] {
    poll();
    own.markers_taken.store(taken(), std::memory_order_release);
  };
  look();
  return wait(all_taken, look);
}

}  // namespace fulmar::runtime
