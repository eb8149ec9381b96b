// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// ring: a number travels from rank to rank, and everybody adds something to it.
//
//     mpicc -O2 ring.c -o ring
//     mpiexec -n 4 ./ring [laps]
//
// The ranks stand in a ring: each receives from the one before and sends to the one behind, and the
// last sends to rank 0. Rank 0 starts the number, so it sends first and receives afterwards; all
// others receive first. If all received first, all would wait for ever (try it: mpiexec explains
// the deadlock after a while).
//
// A send of a few bytes does not wait for the receiver; a receive waits for its message. The tag
// (here the lap) tells messages between the same two ranks apart.
//
// As only one message is on its way at any time, the time of a lap over the number of hops is the
// latency of a message: the time that a small message takes.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int laps = argc > 1 ? atoi(argv[1]) : 1000;
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;

  long number = 0;
  const double begin = MPI_Wtime();
  for (int lap = 0; lap < laps; ++lap) {
    if (rank == 0) {
      // With one rank the ring is a message to itself: it has to be on its way before it is
      // received, without anybody waiting. MPI_Sendrecv does both at once and never deadlocks.
      MPI_Sendrecv_replace(&number, 1, MPI_LONG, next, lap, previous, lap, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&number, 1, MPI_LONG, previous, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      number += rank;
      MPI_Send(&number, 1, MPI_LONG, next, lap, MPI_COMM_WORLD);
    }
  }
  const double seconds = MPI_Wtime() - begin;

  int wrong = 0;
  if (rank == 0) {
    const long expected = (long)laps * size * (size - 1) / 2;
    wrong = number != expected;
    printf("%d laps over %d ranks: %ld, %s\n", laps, size, number,
           wrong ? "WRONG" : "as it should be");
    printf("%.2f microseconds a hop\n", seconds * 1e6 / ((double)laps * size));
  }
  MPI_Finalize();
  return wrong;
}
