// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// stencil_shared: heat in a square plate, which lies in memory that the ranks of a node share.
//
//     mpicc -O2 stencil_shared.c -o stencil_shared
//     mpiexec -n 4 ./stencil_shared [cells] [steps]
//
// MPI_Win_allocate_shared gives each rank some rows of the plate, and all rows lie one behind the other
// in one piece of memory. A rank computes its own rows and simply reads the last row of the rank before
// it and the first one of the rank behind it: there are no halos and no messages. What is left to do is
// to keep the ranks in step:
//
//     MPI_Win_sync, MPI_Barrier, MPI_Win_sync    what a rank wrote before the barrier is what others
//                                                read behind it
//
// All of that happens in one epoch of MPI_Win_lock_all, which allows loads and stores. The ranks of each
// node work on a plate of their own. At the end they compute it once more, each alone, and compare.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

// Row 0 and row n + 1 are the edges, and so are the first and the last column.
static void fill(double* plate, int n, int first, int last) {
  for (int i = first; i < last; ++i) {
    for (int k = 0; k < n + 2; ++k) {
      plate[(long)i * (n + 2) + k] = i == 0 ? 100.0 : i == n + 1 ? 0.0 : 20.0;
    }
  }
}

// Rows from `first` up to `last`, but no edges.
static void step(const double* from, double* to, int n, int first, int last) {
  const int width = n + 2;
  for (int i = first > 1 ? first : 1; i < last && i <= n; ++i) {
    for (int k = 1; k <= n; ++k) {
      const double* here = from + (long)i * width + k;
      to[(long)i * width + k] = 0.25 * (here[-width] + here[width] + here[-1] + here[1]);
    }
  }
}

static void meet(MPI_Win win, MPI_Comm comm) {
  MPI_Win_sync(win);
  MPI_Barrier(comm);
  MPI_Win_sync(win);
}

// The plate of the node: `plates[0]` and `plates[1]` take turns.
static void share(double* plates[2], MPI_Win wins[2], int n, int rows, MPI_Comm node) {
  for (int i = 0; i < 2; ++i) {
    double* own = NULL;
    MPI_Aint bytes = (MPI_Aint)rows * (n + 2) * (MPI_Aint)sizeof(double);
    MPI_Win_allocate_shared(bytes, sizeof(double), MPI_INFO_NULL, node, &own, &wins[i]);
    // Where the memory of the first rank that has some begins.
    int unit = 0;
    MPI_Win_shared_query(wins[i], MPI_PROC_NULL, &bytes, &unit, &plates[i]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 1 ? atoi(argv[1]) : 400;
  const int steps = argc > 2 ? atoi(argv[2]) : 200;
  int rank = 0;
  int size = 0;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  const int first = (int)((long)(n + 2) * rank / size);
  const int last = (int)((long)(n + 2) * (rank + 1) / size);

  double* plates[2];
  MPI_Win wins[2];
  share(plates, wins, n, last - first, node);
  for (int i = 0; i < 2; ++i) {
    MPI_Win_lock_all(MPI_MODE_NOCHECK, wins[i]);
    fill(plates[i], n, first, last);
    meet(wins[i], node);
  }
  for (int s = 0; s < steps; ++s) {
    step(plates[s % 2], plates[1 - s % 2], n, first, last);
    meet(wins[1 - s % 2], node);
  }

  double* alone[2];
  for (int i = 0; i < 2; ++i) {
    alone[i] = malloc((size_t)(n + 2) * (size_t)(n + 2) * sizeof(double));
    if (alone[i] == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    fill(alone[i], n, 0, n + 2);
  }
  for (int s = 0; s < steps; ++s) step(alone[s % 2], alone[1 - s % 2], n, 0, n + 2);
  long wrong = 0;
  for (long i = 0; i < (long)(n + 2) * (n + 2); ++i) {
    wrong += plates[steps % 2][i] != alone[steps % 2][i];
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d steps of %d x %d cells in the memory of %d ranks: %ld cells are wrong%s\n", steps, n,
           n, size, wrong, wrong != 0 ? ": WRONG" : "");
  }
  for (int i = 0; i < 2; ++i) {
    free(alone[i]);
    MPI_Win_unlock_all(wins[i]);
    MPI_Win_free(&wins[i]);
  }
  MPI_Comm_free(&node);
  MPI_Finalize();
  return wrong != 0;
}
