// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "mpiexec/launch_server.h"
#include "mpiexec/options.h"
#include "mpiexec/spawn.h"

namespace fulmar::mpiexec {

/// Runs a checked command line: finds the programs, places, starts and supervises the ranks.
/// Returns the exit code for mpiexec; every failure has been reported on stderr. `title` is the
/// memory of mpiexec's own arguments, see Guard.
int run_job(const Options& options, const Inheritance& inheritance, std::span<char> title);

/// Runs a spawned job in a process that LaunchServer has forked for it. `first` are the options of
/// the first job, `inheritance` what mpiexec found at its start, `universe_size` is MPI_UNIVERSE_SIZE
/// and `running` counts the ranks of all other jobs that run on this machine. Writes to `order.report_fd`
/// when the ranks have been started, or why they could not be. Returns the exit code of the job.
int run_spawned_job(const Options& first, const Inheritance& inheritance, std::span<char> title,
                    const LaunchServer::Order& order, std::uint32_t universe_size,
                    std::uint32_t running);

}  // namespace fulmar::mpiexec
