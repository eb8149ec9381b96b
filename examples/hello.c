// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// hello: who is there, and where.
//
//     mpicc hello.c -o hello
//     mpiexec -n 4 ./hello
//
// mpiexec starts the same program four times. Each copy is a process of its own with its own
// memory; MPI numbers them: the rank, from 0 on. What a program does differently in each copy, it
// decides by its rank.
//
// Every process could print its line itself, and mpiexec would keep the lines whole, but their
// order would be by chance. Here rank 0 collects the names of all hosts (MPI_Gather: one block from
// each rank, stored in the order of the ranks) and prints them in order.
//
// What to try: -n 1; more ranks than the machine has cores; `mpiexec --host node0,node1 ./hello`.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  // From here to MPI_Finalize the processes can reach each other.
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(name, &length);

  // Only the root, rank 0, needs room for all.
  char* names = rank == 0 ? malloc((size_t)size * sizeof name) : NULL;
  if (rank == 0 && names == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Gather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);

  if (rank == 0) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    MPI_Get_library_version(library, &length);
    printf("%.*s\n", 60, library);
    for (int i = 0; i < size; ++i) {
      printf("hello from rank %d of %d on %s\n", i, size, names + (size_t)i * sizeof name);
    }
    free(names);
  }
  MPI_Finalize();
  return 0;
}
