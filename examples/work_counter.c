// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// work_counter: every rank takes the next piece of work from a counter, and nobody hands it out.
//
//     mpicc -O2 work_counter.c -o work_counter
//     mpiexec -n 4 ./work_counter [limit]
//
// The same work as in work_queue.c, primes in ranges of 1000 numbers, but without a manager: a
// number in a window of rank 0 says where the next range begins. MPI_Fetch_and_op adds to it and
// gives its old value, as one step: two ranks never get the same range, and rank 0 does not have to
// answer. It counts primes like all others.
//
//     MPI_Win_lock_all(MPI_MODE_NOCHECK)   once: nobody needs a lock, because the operation is atomic
//     MPI_Fetch_and_op(+1000)              the old value is the range of this rank
//     MPI_Win_flush(0)                     now it is here
//     MPI_Win_unlock_all
//
// What to try: take bigger ranges at first and smaller ones at the end, so that all ranks are done at
// about the same time.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { range_length = 1000 };

static int is_prime(long n) {
  if (n < 4) return n > 1;
  if (n % 2 == 0) return 0;
  for (long d = 3; d * d <= n; d += 2) {
    if (n % d == 0) return 0;
  }
  return 1;
}

static long count_primes(long from, long limit) {
  long count = 0;
  for (long n = from; n < from + range_length && n < limit; ++n) count += is_prime(n);
  return count;
}

static long next_range(MPI_Win counter) {
  const long step = range_length;
  long from = 0;
  MPI_Fetch_and_op(&step, &from, MPI_LONG, 0, 0, MPI_SUM, counter);
  MPI_Win_flush(0, counter);
  return from;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long limit = argc > 1 ? atol(argv[1]) : 1000000;

  // One number, on rank 0.
  long* number = NULL;
  MPI_Win counter = MPI_WIN_NULL;
  const MPI_Aint bytes = rank == 0 ? (MPI_Aint)sizeof(long) : 0;
  MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &number, &counter);
  if (rank == 0) *number = 0;
  MPI_Barrier(MPI_COMM_WORLD);

  long mine[2] = {0, 0};  // primes, ranges
  MPI_Win_lock_all(MPI_MODE_NOCHECK, counter);
  for (long from = next_range(counter); from < limit; from = next_range(counter)) {
    mine[0] += count_primes(from, limit);
    ++mine[1];
  }
  MPI_Win_unlock_all(counter);

  long all[2] = {0, 0};
  MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  int wrong = 0;
  if (rank == 0) {
    wrong = all[1] != (limit + range_length - 1) / range_length;  // each range was done once
    printf("%ld primes below %ld, in %ld ranges%s\n", all[0], limit, all[1],
           wrong ? ": WRONG" : "");
  }
  MPI_Win_free(&counter);
  MPI_Finalize();
  return wrong;
}
