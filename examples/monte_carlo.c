// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// monte_carlo: pi by throwing darts.
//
//     mpicc -O2 monte_carlo.c -o monte_carlo -lm
//     mpiexec -n 4 ./monte_carlo [millions of darts for each rank]
//
// Of darts that hit a square anywhere with the same chance, the part that lies in the quarter
// circle inside is pi / 4. The ranks throw without talking to each other and add up at the end: a
// problem that parallelises by itself. With N darts the error shrinks as one over the square root
// of N, so 100 times the darts, or ranks, give one more digit.
//
// Two things matter:
//   - each rank needs random numbers of its own. Seeds 0, 1, 2 of a poor generator can give streams
//   that
//     resemble each other; here rank and counter go through a mixing function (splitmix64), of
//     which no two inputs give the same output.
//   - counts are added as 64-bit integers (MPI_UINT64_T), which 32 bits would not hold.
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// A number from 0 to 1.
static double uniform(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

static uint64_t throw_darts(uint64_t stream, uint64_t darts) {
  uint64_t inside = 0;
  for (uint64_t i = 0; i < darts; ++i) {
    const double x = uniform(mix(stream + 2 * i));
    const double y = uniform(mix(stream + 2 * i + 1));
    inside += x * x + y * y < 1;
  }
  return inside;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const uint64_t darts = (argc > 1 ? strtoull(argv[1], NULL, 10) : 5) * 1000000;

  const double begin = MPI_Wtime();
  // Each rank has 2^44 numbers to itself.
  uint64_t inside = throw_darts((uint64_t)rank << 44, darts);
  uint64_t sum = 0;
  MPI_Reduce(&inside, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);

  int wrong = 0;
  if (rank == 0) {
    const double all = (double)darts * size;
    const double pi = 4 * (double)sum / all;
    const double deviation = 4 * sqrt(M_PI / 4 * (1 - M_PI / 4) / all);
    wrong = fabs(pi - M_PI) > 5 * deviation;
    printf("%.0f darts: pi is about %.6f, with a standard deviation of %.6f\n", all, pi, deviation);
    printf("%.3f s on %d ranks%s\n", MPI_Wtime() - begin, size, wrong ? "; this is WRONG" : "");
  }
  MPI_Finalize();
  return wrong;
}
