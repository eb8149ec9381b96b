// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/abort.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace fulmar::runtime {

void abort_job(Job& job, int code) {
  std::fflush(nullptr);
  job.set_abort_code(code);
  job.set_state(wire::RankState::aborted);
  // Behind a wrapper such as a shell, mpiexec does not see this process end; everybody else ignores
  // SIGCHLD.
  if (!job.singleton() && job.mpiexec_pid() > 0) ::kill(job.mpiexec_pid(), SIGCHLD);
  ::_exit((code & 0xff) == 0 ? 1 : code & 0xff);
}

}  // namespace fulmar::runtime
