// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdint>

#include "window_program.h"

namespace generated {

/// Runs the programs `first` to `first + count - 1` of one thread.
inline void run_window_programs(std::uint64_t first, std::uint64_t count, int thread,
                                MPI_Comm comm) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    current_seed() = seed;
    latest_seed() = seed;
    WindowProgram(mix({seed, at(thread)}), comm).run();
  }
}

}  // namespace generated
