// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// hybrid: OpenMP threads inside each process, MPI between the processes.
//
//     mpicc -O2 -fopenmp hybrid.c -o hybrid -lm
//     OMP_NUM_THREADS=4 mpiexec -n 2 --bind-to none ./hybrid [millions of intervals]
//
// The cores of one machine share memory, so threads can work on the same data without messages;
// between machines there have to be messages. Usual is one process for each socket or machine, and
// as many threads in it as there are cores. mpiexec binds each rank to its share of the cores, and
// its threads stay there; --report-bindings shows where.
//
// A program with threads says so in the beginning: MPI_Init_thread in place of MPI_Init, with what
// it will do,
//
//     MPI_THREAD_FUNNELED     threads compute, the main thread alone calls MPI   (here)
//     MPI_THREAD_SERIALIZED   any thread calls MPI, but never two at once
//     MPI_THREAD_MULTIPLE     any thread calls MPI at any time
//
// and gets back what the library can.
//
// The work is the integral of 4 / (1 + x^2) from 0 to 1, which is pi: each rank takes every size-th
// interval, its threads share these out (the `parallel for`) and add up (the `reduction`), and
// MPI_Reduce adds the ranks' sums.
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double integrate(long intervals, int rank, int size) {
  const double width = 1.0 / (double)intervals;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = rank; i < intervals; i += size) {
    const double x = ((double)i + 0.5) * width;
    sum += 4 / (1 + x * x);
  }
  return sum * width;
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided < MPI_THREAD_FUNNELED) {
    if (rank == 0) fprintf(stderr, "hybrid: this MPI library allows no threads\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const long intervals = (argc > 1 ? atol(argv[1]) : 20) * 1000000;

  const double begin = MPI_Wtime();
  double part = integrate(intervals, rank, size);
  double pi = 0;
  MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);

  int threads = omp_get_max_threads();
  MPI_Allreduce(MPI_IN_PLACE, &threads, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int wrong = 0;
  if (rank == 0) {
    wrong = fabs(pi - M_PI) > 1e-9;
    printf("pi is %.12f, an error of %.1e\n", pi, fabs(pi - M_PI));
    printf("%.3f s on %d ranks with %d threads in all%s\n", MPI_Wtime() - begin, size, threads,
           wrong ? "; this is WRONG" : "");
  }
  MPI_Finalize();
  return wrong;
}
