// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>
#include <string>

#include "mpiexec/options.h"
#include "mpiexec/spawn.h"

namespace fulmar::mpiexec {

/// Runs a checked command line: finds the programs, places, starts and supervises the ranks.
/// Returns the exit code for mpiexec; every failure has been reported on stderr. `title` is the
/// memory of mpiexec's own arguments, see Guard.
int run_job(const Options& options, const Inheritance& inheritance, std::span<char> title);

}  // namespace fulmar::mpiexec
