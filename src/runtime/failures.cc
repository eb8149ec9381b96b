// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/failures.h"

#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "mpi/coll/failure.h"
#include "mpi/comm/failure.h"
#include "mpi/comm/jobs.h"
#include "mpi/p2p/requests.h"
#include "mpi/recovery/recovery.h"
#include "runtime/abort.h"
#include "runtime/network/networks.h"

namespace fulmar::runtime {
namespace {

constexpr std::uint64_t poll_interval_ns = 1'000'000'000;
/// How long the launcher has to end this process after another one has called MPI_Abort.
constexpr std::uint64_t launcher_time_ns = 5'000'000'000;

std::string text_of(const Job& job, const Job::Death& death) {
  if (job.never_joined(death.rank)) {
    return "rank " + std::to_string(death.rank) +
           " of the job cannot take part: " + job.why_missing();
  }
  return "lost rank " + std::to_string(death.rank) + " on this node (process " +
         std::to_string(death.pid) + "): the process has ended, or was killed";
}

}  // namespace

device::FailureObserver FailureMonitor::observer() noexcept {
  device::FailureObserver observer;
  observer.look = [](void* self) { static_cast<FailureMonitor*>(self)->look(); };
  observer.ended = [](void* self, std::uint32_t rank) {
    static_cast<FailureMonitor*>(self)->ended(rank);
  };
  observer.reported = [](void* self, std::uint32_t rank, std::uint32_t reporter) {
    static_cast<FailureMonitor*>(self)->add(
        rank, "rank " + std::to_string(reporter) + " has lost it, and told so");
  };
  observer.interruptible = [](void* self, const device::Operation& receive) {
    return mpi::is_interruptible(static_cast<FailureMonitor*>(self)->library_, receive);
  };
  observer.departed = [](void* self, std::uint32_t rank) {
    return static_cast<FailureMonitor*>(self)->job_.has_closed(rank);
  };
  observer.context = this;
  return observer;
}

void FailureMonitor::look() {
  const bool shares_memory = networks_ != nullptr && networks_->host_network() != nullptr;
  if (job_.singleton() && !shares_memory) return;
  if (!job_.singleton()) {
    if (job_.is_ending()) return leave_ending_job();
    poll_death_words();
  }
  const std::uint64_t now = base::now_ns();
  if (now < next_poll_ns_) return;
  next_poll_ns_ = now + poll_interval_ns;
  if (!job_.singleton()) poll_processes();
  if (shares_memory) networks_->look();
}

/// Not every launcher ends all processes: one that continues after failures may not end
/// the child of a wrapper.
void FailureMonitor::leave_ending_job() {
  const std::uint64_t now = base::now_ns();
  if (leave_ns_ == 0) leave_ns_ = now + launcher_time_ns;
  if (now < leave_ns_) return;
  std::fprintf(stderr,
               "fulmar: rank %u of %u: another rank has called MPI_Abort, and the launcher has not "
               "ended this one, so it ends itself\n",
               job_.rank(), job_.size());
  end_process(1);
}

void FailureMonitor::poll_death_words() {
  const std::uint32_t count = job_.failed_ranks();
  if (count == seen_) return;
  seen_ = count;
  for (const Job::Death& death : job_.deaths()) add(death.rank, text_of(job_, death));
}

/// Not every launcher reports the death of a rank.
void FailureMonitor::poll_processes() {
  bool found = false;
  for (auto death = job_.find_death(); death; death = job_.find_death()) {
    job_.mark_failed(death->rank);
    found = true;
  }
  if (!found) return;
  poll_death_words();
  const auto here = static_cast<std::uint32_t>(job_.node_ranks().size());
  for (std::uint32_t index = 0; index < here; ++index) {
    if (index != job_.local_index()) library_.device->wake(index);
  }
}

void FailureMonitor::add(std::uint32_t rank, std::string why) {
  library_.device->failures().add(rank, std::move(why));
}

void FailureMonitor::ended(std::uint32_t rank) {
  mpi::process_failed(library_, rank);
  library_.recovery->process_failed(rank);
  notify_others(rank);
}

void FailureMonitor::notify_others(std::uint32_t rank) {
  const bool is_partner = notify_members(rank);
  if (rank >= job_.size()) {
    // This process may have left the communicators with it (MPI_Comm_disconnect) while others still wait there.
    if (!is_partner) notify_job(rank, [](std::uint32_t /*other*/) { return true; });
    return;
  }
  // Ranks of this node see the death words; a job on one node needs no messages.
  if (job_.node_count() == 1) return;
  notify_job(rank, [this](std::uint32_t other) {
    return job_.node_of(other) != job_.node_of(job_.rank());
  });
}

template <class Concerns>
void FailureMonitor::notify_job(std::uint32_t process, Concerns&& concerns) {
  device::Failures& failures = library_.device->failures();
  const std::uint32_t size = job_.size();
  const auto tell = [&](std::uint32_t other) {
    if (other == job_.rank() || !concerns(other)) return;
    if (failures.why(other) == nullptr) failures.report(other, process);
  };
  for (std::uint32_t distance = 1; distance < size; distance *= 2) {
    tell((job_.rank() + distance) % size);
    tell((job_.rank() + size - distance) % size);
  }
}

/// Reports to members at distances of 0, 1, 2, 4 and so on from one of them.
void FailureMonitor::notify_group(const mpi::Routes& members, int from, std::uint32_t process) {
  device::Failures& failures = library_.device->failures();
  const int size = members.size();
  const auto tell = [&](int rank) {
    const std::uint32_t other = members[rank].peer;
    if (other == process || other == library_.device->processes().self()) return;
    if (failures.why(other) == nullptr) failures.report(other, process);
  };
  tell(from);
  for (int distance = 1; distance < size; distance *= 2) {
    tell((from + distance) % size);
    tell((from + size - distance) % size);
  }
}

/// No launcher reports processes of other jobs, and only some members of a communicator have a
/// connection to one. Its own group knows of it, but the members of the other group that were connected to it
/// may have failed before.
bool FailureMonitor::notify_members(std::uint32_t process) {
  bool found = false;
  for (const mpi::Comm* comm : library_.comms) {
    if (!mpi::includes(*comm, process) || !mpi::spans_jobs(*comm)) continue;
    found = true;
    const mpi::Comm& group = comm->is_inter ? *comm->local_comm : *comm;
    notify_group(group.routes, group.rank, process);
    if (!comm->is_inter || !mpi::includes(group, process)) continue;
    notify_group(comm->routes, group.rank % comm->remote_size, process);
  }
  return found;
}

void FailureMonitor::lost(std::uint32_t rank, const base::Error& why) {
  if (rank >= job_.size()) return add(rank, why.text());
  if (why.error_class() == base::ErrorClass::proc_aborted || job_.has_failed(rank)) {
    return add(rank, why.text());
  }
  std::fprintf(stderr, "fulmar: rank %u of %u: %s\n", job_.rank(), job_.size(), why.text().c_str());
  abort_job(job_, 1);
}

}  // namespace fulmar::runtime
