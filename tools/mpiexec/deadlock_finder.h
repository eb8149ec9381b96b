// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "wire/launch/launch_message.h"

namespace fulmar::mpiexec {

/// A job whose ranks are watched, and how a report names it.
struct WatchedJob {
  std::string name;  ///< "this job", "spawned job 2"
  wire::JobStillness stillness;
};

/// Finds jobs that stand still for good, each by itself or several that wait for each other.
///
/// The waits of a job may end by messages of other jobs, which it names. Taken together are a job, those that
/// it needs, those that these need, and so on. They stand still for good if none of them moves, all of them
/// are watched here (those of another mpiexec are not), and each of their ranks has looked twice in vain
/// since the last of them was noted: all waited at that moment, so nobody can have sent anything since,
/// and what had been sent before was found by the first of the two looks at the latest.
///
/// The times of all jobs are of one clock: they are on one host.
class DeadlockFinder {
 public:
  /// The lines of a report, or nothing: each standstill is reported once. `gone` are the ids of jobs that have
  /// ended and that nobody has to wait for any more.
  [[nodiscard]] std::vector<std::string> find(std::span<const WatchedJob> jobs,
                                              const std::set<std::uint32_t>& gone,
                                              std::int64_t now_ns);

 private:
  std::map<std::uint32_t, std::int64_t> reported_;  ///< of a job: when what was reported was noted
};

}  // namespace fulmar::mpiexec
