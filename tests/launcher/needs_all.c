/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * A call that needs rank 1, made by the other ranks; the first argument names it. "alone" needs no
 * other rank. The tests let rank 1 end without MPI_Init; for "cancel_left" it runs this program,
 * too, and calls MPI_Finalize without receiving what rank 0 sends. */
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { count = 1 << 20 };
static int data[count];
static int rank;

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void allreduce(void) {
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void ibarrier(void) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void ssend(void) { MPI_Ssend(data, 1, MPI_INT, 1, 7, MPI_COMM_WORLD); }
static void long_send(void) { MPI_Send(data, count, MPI_INT, 1, 7, MPI_COMM_WORLD); }
static void receive(void) { MPI_Recv(data, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void receive_any(void) {
  MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void probe(void) { MPI_Probe(1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void test_loop(void) {
  MPI_Request request;
  int done = 0;
  MPI_Irecv(data, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}
static void isend(void) {
  MPI_Request request;
  MPI_Isend(data, count, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
/* A line from the test says that rank 1 has ended, so a message that is sent later is lost, and
 * one that was sent before is, too. */
static void wait_for_line(void) {
  char line[8];
  if (fgets(line, sizeof line, stdin) == NULL) fprintf(stderr, "needs_all: no line\n");
}
static void isend_short(void) {
  MPI_Request request;
  MPI_Isend(data, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
  wait_for_line();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void finish_cancelled(MPI_Request request) {
  MPI_Status status;
  int flag = 0;
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  printf("cancelled %d\n", flag);
  fflush(stdout);
}
static void cancelled(void) {
  MPI_Request request;
  MPI_Issend(data, count, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
  wait_for_line();
  finish_cancelled(request);
}
/* Rank 0 makes progress until the line is there: the other one may wait for it in MPI_Finalize. */
static void cancel_left(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  int flag = 0;
  if (rank == 0) MPI_Issend(data, count, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) return;
  while (poll(&input, 1, 0) == 0) {
    MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  finish_cancelled(request);
}
static void alone(void) { MPI_Barrier(MPI_COMM_SELF); }

static const struct {
  const char* name;
  void (*run)(void);
} programs[] = {
    {"barrier", barrier},
    {"allreduce", allreduce},
    {"ibarrier", ibarrier},
    {"ssend", ssend},
    {"long_send", long_send},
    {"receive", receive},
    {"receive_any", receive_any},
    {"probe", probe},
    {"test_loop", test_loop},
    {"isend", isend},
    {"isend_short", isend_short},
    {"cancelled", cancelled},
    {"alone", alone},
    {"cancel_left", cancel_left},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i) {
    if (argc > 1 && strcmp(argv[1], programs[i].name) == 0) {
      programs[i].run();
      MPI_Finalize();
      return 0;
    }
  }
  fprintf(stderr, "needs_all: no such call\n");
  return 2;
}
