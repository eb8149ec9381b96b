// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "dice.h"
#include "report.h"

namespace generated {

/// Runs the generated programs `first` to `first + count - 1` of one thread on `comm`.
using RunPrograms = void (*)(std::uint64_t first, std::uint64_t count, int thread, MPI_Comm comm);

/// The main function of a test with generated programs. Each thread has a communicator of its own.
/// usage: PROGRAM [SEED [COUNT [THREADS]]]; `threads` is the default of the last.
inline int run_main(int argc, char** argv, int threads, RunPrograms run_programs) {
  const auto argument = [&](int index, std::uint64_t otherwise) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
  };
  const std::uint64_t first = argument(1, 1);
  const std::uint64_t count = argument(2, 1);
  threads = static_cast<int>(argument(3, at(threads)));
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  Report& all = report();
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  all.before_seed = "mpiexec -n " + std::to_string(ranks) + " " + argv[0] + " ";
  all.after_seed = " 1 " + std::to_string(threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &all.rank);
  watch_for_the_end();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  good(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  std::vector<MPI_Comm> worlds(at(threads), MPI_COMM_WORLD);
  for (int i = 1; i < threads; ++i) good(MPI_Comm_dup(MPI_COMM_WORLD, &worlds[at(i)]));
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads; ++i) {
    helpers.emplace_back(run_programs, first, count, i, worlds[at(i)]);
  }
  run_programs(first, count, 0, MPI_COMM_WORLD);
  for (std::thread& helper : helpers) helper.join();
  for (int i = 1; i < threads; ++i) good(MPI_Comm_free(&worlds[at(i)]));
  void* buffer = nullptr;
  int bytes = 0;
  good(MPI_Buffer_detach(&buffer, &bytes));
  MPI_Finalize();
  return 0;
}

}  // namespace generated
