// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>

namespace fulmar::mpiexec {

/// `mpiexec --spawn-server FD`: what a process that no launcher started runs beside itself when it
/// spawns others. Serves the process at the other end of socket `fd` (launch_server.h) and the jobs
/// that come of it, in a process of its own: the one that calls ends at once, so that whoever started it
/// has no child left to wait for. The server ends when that process and all jobs have ended; where the
/// process ends without leaving MPI (its socket closes without a bye), it ends the jobs.
/// Returns the exit code.
int run_spawn_server(int fd, std::span<char> title);

}  // namespace fulmar::mpiexec
