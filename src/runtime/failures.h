// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "mpi/comm/routes.h"
#include "mpi/library.h"
#include "runtime/job/job.h"

namespace fulmar::runtime {

class Networks;

/// Detects failed processes of the job, and propagates failures (docs/failures.md):
///
/// * On this node: from the death words in the job's segment, which mpiexec writes. Under another
///   launcher the waiting ranks check once a second whether the others still exist, and
///   the first to notice writes the word. Processes of other jobs with which memory is shared are
///   checked in the same way, under every launcher.
/// * Over networks: from the network (`lost`), and from other ranks. A rank that is notified of a
///   failure reports it to the ranks at distances of 1, 2, 4 and so on, so that ranks which never
///   communicated with the failed process are notified, too, with O(log n) messages a rank. The
///   members of communicators that contain it and span jobs are notified in the same way.
///
/// The device ends the messages, mpi/coll/failure.h the collective calls; error handlers decide
/// what happens then.
///
/// Thread rule: the lock of the library.
class FailureMonitor {
 public:
  FailureMonitor(Job& job, mpi::Library& library) noexcept : job_(job), library_(library) {}
  FailureMonitor(const FailureMonitor&) = delete;
  FailureMonitor& operator=(const FailureMonitor&) = delete;

  /// For Device::Config.
  [[nodiscard]] device::FailureObserver observer() noexcept;
  /// From now on processes of other jobs that are reached through memory are looked at, too.
  /// `networks` outlives this.
  void watch(Networks& networks) noexcept { networks_ = &networks; }

  /// A network cannot reach a rank any more. A process that has died is a failure; any other cause
  /// (it has left MPI, or cannot be reached with the networks in use) is a mistake that no other
  /// call would report: the job ends, with the text. A process of another job counts as failed,
  /// whatever the cause.
  void lost(std::uint32_t rank, const base::Error& why);

 private:
  void look();
  void leave_ending_job();
  void poll_death_words();
  void poll_processes();
  void ended(std::uint32_t rank);
  void notify_others(std::uint32_t rank);
  /// Of the communicators that hold the process and span jobs. False: there is none.
  bool notify_members(std::uint32_t process);
  void notify_group(const mpi::Routes& members, int from, std::uint32_t process);
  /// Ranks at distances of 1, 2, 4 and so on both ways, which do the same.
  template <class Concerns>
  void notify_job(std::uint32_t process, Concerns&& concerns);
  void add(std::uint32_t rank, std::string why);

  Job& job_;
  mpi::Library& library_;
  Networks* networks_ = nullptr;
  std::uint32_t seen_ = 0;          ///< how many words were set at the last look
  std::uint64_t next_poll_ns_ = 0;  ///< at the processes of this node
  std::uint64_t leave_ns_ = 0;      ///< when this process ends itself; 0: the job does not end
};

}  // namespace fulmar::runtime
