/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * An MPI program that a rank runs several times. `again N LABEL` lets each rank send LABEL to the
 * next one and add up the ranks, prints "LABEL rank of size, sum", finalizes, and executes itself
 * again N - 1 times, with LABEL one higher. `again parent` starts itself as a child after
 * MPI_Finalize and waits for it. `again pending` leaves a message to rank 0 behind unreceived. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int report(int label) {
  int rank = -1;
  int size = -1;
  int sum = -1;
  int got = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&label, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT, (rank + size - 1) % size,
               3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d: %d of %d, sum %d\n", label, rank, size, sum);
  fflush(stdout);
  return got == label ? 0 : 1;
}

/* Same tag and communicator as the messages of report: the next program must not see it. */
static int leave_message(void) {
  int rank = -1;
  const int wrong = -7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPI_Send(&wrong, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

static int run_child(char* self) {
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "1", "1", (char*)NULL);
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

int main(int argc, char** argv) {
  if (argc < 2 || MPI_Init(&argc, &argv) != MPI_SUCCESS) return 90;
  if (strcmp(argv[1], "pending") == 0) {
    leave_message();
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 91;
  }
  if (strcmp(argv[1], "parent") == 0) {
    MPI_Finalize();
    return run_child(argv[0]);
  }
  const int times = atoi(argv[1]);
  const int label = argc > 2 ? atoi(argv[2]) : 0;
  const int wrong = report(label);
  if (MPI_Finalize() != MPI_SUCCESS || wrong != 0) return 92;
  if (times <= 1) return 0;
  char more[16];
  char next[16];
  snprintf(more, sizeof more, "%d", times - 1);
  snprintf(next, sizeof next, "%d", label + 1);
  execl(argv[0], argv[0], more, next, (char*)NULL);
  return 93;
}
