// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mpiexec/deadlock.h"
#include "mpiexec/deadlock_finder.h"
#include "mpiexec/generations.h"
#include "mpiexec/launch_server.h"

namespace fulmar::mpiexec {

/// Looks once a second whether jobs stand still: the ranks of this mpiexec, and those of the jobs that
/// it has spawned, as their own processes tell it (launch_server.h).
class DeadlockLookout {
 public:
  /// `generations` outlives this.
  DeadlockLookout(const Generations& generations, DeadlockWatch::Times times)
      : generations_(generations), times_(times) {}

  /// Of the first job's mpiexec: the lines of a report, or nothing. `server` has the spawned jobs.
  [[nodiscard]] std::vector<std::string> look(const LaunchServer& server, std::int64_t now_ns);

  /// Of the process that runs a spawned job: tells the server through socket `report_fd`. What it could not tell as
  /// nobody has read what was told before, it tells the next time.
  void tell(int report_fd, std::int64_t now_ns);

 private:
  [[nodiscard]] wire::LaunchStillness look_at_own(std::int64_t now_ns);

  const Generations& generations_;
  DeadlockWatch::Times times_;
  std::map<std::uint32_t, DeadlockWatch> watches_;  ///< by generation
  DeadlockFinder finder_;
  wire::LaunchStillness told_;
};

}  // namespace fulmar::mpiexec
