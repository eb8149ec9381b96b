// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Compiled with another MPI library: all ranks send to each other, then it ends as its arguments
// say: report | abort RANK CODE.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank = -1;
  int size = -1;
  int sum = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d of %d, sum %d\n", rank, size, sum);
  fflush(stdout);
  if (argc == 4 && strcmp(argv[1], "abort") == 0) {
    if (rank == atoi(argv[2])) MPI_Abort(MPI_COMM_WORLD, atoi(argv[3]));
    for (;;) MPI_Barrier(MPI_COMM_WORLD);
  }
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
