// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

/// Generated programs (tests/mpi/random) as tests in simulated jobs.
namespace simulated {

/// The value of an environment variable, or another number where it is not set.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise);
/// Once, before the first program: a failure prints how to repeat it.
void prepare_programs();
/// What follows is the program of this seed.
void begin_program(std::uint64_t seed);
/// One rank of it.
void run_program(std::uint64_t seed, int rank);
/// One rank of a one-sided program (tests/mpi/rma/generated).
void run_window_program(std::uint64_t seed);

}  // namespace simulated
