// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "wire/node/job.h"

namespace fulmar::mpiexec {

/// How a rank ended, from the kernel and from its record in the job segment.
struct RankEnd {
  enum class Way { exited, signalled };
  Way way = Way::exited;
  int value = 0;  ///< exit code or signal number
  wire::RankState state = wire::RankState::started;
  int abort_code = 0;  ///< when state is aborted
};

/// What that means for the job.
struct Verdict {
  bool failed = false;
  int exit_code = 0;  ///< of the job, if this is its first failure; never 0 when failed
  std::string what;   ///< "was killed by signal 9 (SIGKILL)"
};

/// A non-zero code, a signal, MPI_Abort, and leaving without MPI_Finalize are failures. Exit code 0
/// without ever calling MPI_Init is none: mpiexec also starts programs that are not MPI programs.
Verdict judge(const RankEnd& end);

/// "SIGKILL"; "signal 40" for one without a name.
std::string signal_name(int signal);

}  // namespace fulmar::mpiexec
