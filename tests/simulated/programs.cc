// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "simulated/programs.h"

#include <cstdlib>
#include <filesystem>

#include "mpi/random/program.h"
#include "mpi/random/report.h"
#include "mpi/rma/generated/window_program.h"

namespace simulated {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void prepare_programs() {
  generated::report().before_seed = "FULMAR_TEST_PROGRAMS=1 FULMAR_TEST_SEED=";
  generated::report().after_seed = " " + std::filesystem::read_symlink("/proc/self/exe").string();
  generated::watch_for_the_end();
}

void begin_program(std::uint64_t seed) {
  generated::current_seed() = seed;
  generated::latest_seed() = seed;
  generated::kept_memory().clear();
}

void run_program(std::uint64_t seed, int rank) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  generated::good(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  {
    generated::Program program(seed, MPI_COMM_WORLD, rank);
    program.run();
  }
  void* buffer = nullptr;
  int bytes = 0;
  generated::good(MPI_Buffer_detach(&buffer, &bytes));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

void run_window_program(std::uint64_t seed) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  generated::WindowProgram(seed, MPI_COMM_WORLD).run();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace simulated
