// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "mpiexec/options.h"
#include "wire/launch/launch_message.h"

namespace fulmar::mpiexec {

/// A spawned job in the terms of a command line.
struct SpawnPlan {
  Options options;
  /// For each process that was asked for, in order: 0, or MPI_ERR_SPAWN where the info key `soft`
  /// asks for fewer.
  std::vector<std::int32_t> codes;
};

/// What a spawn asks for, on the terms of the first job: `first` are its options, of which those hold
/// that are for all programs (output, environment, what a failure means); no rank gets standard input.
/// The program of a command is looked for from the working folder of the process that spawns, which
/// is also that of the new processes unless `wdir` says another.
///
/// Info keys (others are ignored, as MPI 5.0, 11.8.4 has it): host, add-host, hostfile, add-hostfile,
/// wdir, path, file, soft, env, bind-to, map-by, arch, mpi_initial_errhandler.
///
/// Fails (spawn) with the key and its value: nonsense, a host that is not this machine, another
/// architecture, a file that cannot be read.
base::Result<SpawnPlan> plan_spawn(const Options& first, const wire::LaunchSpawn& spawn,
                                   std::uint32_t number);

}  // namespace fulmar::mpiexec
