// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/check.h"

namespace test {

/// The process of each rank. Collective.
inline std::vector<int> pids_of(MPI_Comm comm) {
  std::vector<int> pids(static_cast<std::size_t>(size_of(comm)));
  const int own = ::getpid();
  MPI_Allgather(&own, 1, MPI_INT, pids.data(), 1, MPI_INT, comm);
  return pids;
}

/// Waits until a process of this host has ended, also if its parent has not collected it: mpiexec, which collects ranks
/// at the end of the job, says that "the other ranks go on" if any is left when it sees the death, and sees what
/// ended first first.
inline void wait_until_ended(pid_t pid) {
  for (;;) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    if (!std::getline(file, text)) return;
    const std::size_t name_end = text.rfind(')');  // "PID (NAME) STATE ..."
    if (name_end == std::string::npos || name_end + 2 >= text.size()) return;
    const char state = text[name_end + 2];
    if (state == 'Z' || state == 'X') return;
    std::this_thread::yield();
  }
}

}  // namespace test
