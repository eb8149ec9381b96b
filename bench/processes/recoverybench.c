// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What agreement and a communicator of the living cost: MPIX_Comm_agree and MPIX_Comm_shrink while nothing has failed, and
// the first of each after the last rank was killed. Prints "name ranks microseconds", medians at rank 0.
// usage: recoverybench [ROUNDS]; the launcher must let survivors go on.
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_rounds = 1000, agreements = 20 };

static double seconds[most_rounds];

static int by_value(const void* one, const void* other) {
  const double a = *(const double*)one;
  const double b = *(const double*)other;
  return a < b ? -1 : a > b;
}

static void report(const char* name, int ranks, int rank, int rounds) {
  qsort(seconds, (size_t)rounds, sizeof *seconds, by_value);
  if (rank == 0) printf("%s %d %.2f\n", name, ranks, 1e6 * seconds[rounds / 2]);
  fflush(stdout);
}

static void need(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "recoverybench: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void agree(int rounds, int ranks, int rank) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int j = 0; j < agreements; ++j) {
      int flag = rank == 1 ? 6 : 7;
      need(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS && flag == 6,
           "an agreement has failed");
    }
    seconds[i] = (MPI_Wtime() - begin) / agreements;
  }
  report("agree", ranks, rank, rounds);
}

static void shrink(int rounds, int ranks, int rank) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm living;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    need(MPIX_Comm_shrink(MPI_COMM_WORLD, &living) == MPI_SUCCESS, "MPIX_Comm_shrink has failed");
    seconds[i] = MPI_Wtime() - begin;
    int size = 0;
    MPI_Comm_size(living, &size);
    need(size == ranks, "a rank is missing");
    MPI_Comm_free(&living);
  }
  report("shrink", ranks, rank, rounds);
}

// From the kill to the end of the first agreement and the first shrink of the survivors.
static void recover(int ranks, int rank) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (rank == ranks - 1) raise(SIGKILL);
  int flag = 1;
  // Returns the error class where the failure is known by then.
  MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
  seconds[0] = MPI_Wtime() - begin;
  report("agree-after-kill", ranks, rank, 1);
  MPI_Comm living;
  need(MPIX_Comm_shrink(MPI_COMM_WORLD, &living) == MPI_SUCCESS, "MPIX_Comm_shrink has failed");
  seconds[0] = MPI_Wtime() - begin;
  int size = 0;
  MPI_Comm_size(living, &size);
  need(size == ranks - 1, "the dead rank is still there, or a living one is missing");
  report("recovered-after-kill", ranks, rank, 1);
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, living);
  need(sum == ranks - 1, "the shrunken communicator does not work");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int rounds = argc > 1 ? atoi(argv[1]) : 20;
  if (rounds < 1 || rounds > most_rounds) rounds = 20;
  agree(rounds, ranks, rank);
  shrink(rounds, ranks, rank);
  recover(ranks, rank);
  MPI_Finalize();
  return 0;
}
