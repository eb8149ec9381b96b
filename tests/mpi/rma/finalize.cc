// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Windows that are not freed before MPI_Finalize: others may still use the memory of a rank that has called it, which is
// collective, and has nothing more to do itself (MPI 5.0, 11.2.2 and 12.5.3).
// ranks: 2 3

#include <mpi.h>

#include <array>

#include "rma/last_use.h"

int main(int argc, char** argv) {
  static std::array<int, 8> own{};
  MPI_Init(&argc, &argv);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  MPI_Win on_own = MPI_WIN_NULL;
  MPI_Win allocated = MPI_WIN_NULL;
  MPI_Win alone = MPI_WIN_NULL;
  int* memory = nullptr;
  MPI_Win_create(own.data(), sizeof own, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &on_own);
  MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &allocated);
  MPI_Win_create(own.data(), sizeof own, 4, MPI_INFO_NULL, MPI_COMM_SELF, &alone);
  *memory = 0;
  const pid_t process = test::process_of_target(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != test::target) {
    test::let_end(process);
    test::add_one(on_own);
    test::add_one(allocated);
  }
  MPI_Finalize();
  if (rank == test::target) test::expect_equal(own[0], size - 1, "what all have added");
  return test::failures() == 0 ? 0 : 1;
}
