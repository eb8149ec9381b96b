// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// work_queue: one rank hands out pieces of work, the others ask for more when they are done.
//
//     mpicc -O2 work_queue.c -o work_queue
//     mpiexec -n 4 ./work_queue [limit]
//
// The work is to count the primes below a limit, in ranges of 1000 numbers. Higher ranges take
// longer than lower ones, and on a busy machine nobody knows how long. If the ranges were dealt
// beforehand, all would wait for the slowest rank. So rank 0 is the manager: it gives each worker
// one range, and whoever brings a result gets the next one. A fast worker does more of them.
//
//     worker                         manager
//     result, or "I am here"  --->   MPI_Recv from MPI_ANY_SOURCE
//     MPI_Recv, any tag       <---   the next range (tag_work), or nothing more (tag_stop)
//
// The manager receives from anybody, and the status says from whom. The worker receives from rank 0
// with any tag, and the status says which it was: work, or the end.
//
// With one rank there are no workers, and the manager does it all. What to try: give each worker
// two ranges at once, so that it has something to do while it waits for the next.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { tag_result, tag_work, tag_stop };
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

static void work(long limit) {
  long count = 0;  // the first message brings no result, and says that this rank is there
  for (;;) {
    long from = 0;
    MPI_Status status;
    MPI_Send(&count, 1, MPI_LONG, 0, tag_result, MPI_COMM_WORLD);
    MPI_Recv(&from, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == tag_stop) return;
    count = count_primes(from, limit);
  }
}

// `done[r]` becomes the number of ranges that rank r has done.
static long manage(long limit, int size, long* done) {
  long primes = 0;
  long next = 0;
  int working = size - 1;
  if (working == 0) {
    for (; next < limit; next += range_length, ++done[0]) primes += count_primes(next, limit);
  }
  while (working > 0) {
    long count = 0;
    MPI_Status status;
    MPI_Recv(&count, 1, MPI_LONG, MPI_ANY_SOURCE, tag_result, MPI_COMM_WORLD, &status);
    primes += count;
    const int more = next < limit;
    MPI_Send(&next, 1, MPI_LONG, status.MPI_SOURCE, more ? tag_work : tag_stop, MPI_COMM_WORLD);
    done[status.MPI_SOURCE] += more;
    working -= !more;
    next += range_length;
  }
  return primes;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long limit = argc > 1 ? atol(argv[1]) : 1000000;
  if (rank == 0) {
    long* done = calloc((size_t)size, sizeof(long));
    if (done == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    const long primes = manage(limit, size, done);
    printf("%ld primes below %ld\n", primes, limit);
    for (int i = 0; i < size; ++i) {
      if (i > 0 || size == 1) printf("rank %d has done %ld ranges\n", i, done[i]);
    }
    free(done);
  } else {
    work(limit);
  }
  MPI_Finalize();
  return 0;
}
