// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Times of processes that come and go; started with one rank unless said otherwise. Prints "NAME COUNT MICROSECONDS"
// lines with the median of the rounds. Argument: how many rounds.
//   spawn N        MPI_Comm_spawn of N copies of this program, until it returns
//   disconnect N   the MPI_Comm_disconnect that follows
//   latency 8      half a round trip of 8 bytes between parent and child
//   bandwidth      half a round trip of 1 MiB between them
//   connect        MPI_Comm_connect and MPI_Comm_accept between parent and child over a port, both waiting for each other
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_rounds = 1000, trips = 2000, long_trips = 200, long_bytes = 1 << 20, connects = 20 };

static char buffer[long_bytes];

static int by_value(const void* one, const void* other) {
  const double a = *(const double*)one;
  const double b = *(const double*)other;
  return a < b ? -1 : a > b;
}

static void report(const char* name, int count, double* seconds, int rounds) {
  qsort(seconds, (size_t)rounds, sizeof *seconds, by_value);
  printf("%s %d %.2f\n", name, count, 1e6 * seconds[rounds / 2]);
  fflush(stdout);
}

static double half_trip(MPI_Comm inter, int bytes, int times, int starts) {
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) {
    if (starts) MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, inter);
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, inter, MPI_STATUS_IGNORE);
    if (!starts) MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, inter);
  }
  return (MPI_Wtime() - begin) / times / 2;
}

static double meet(MPI_Comm inter, char* port, int is_parent) {
  MPI_Comm met;
  MPI_Barrier(inter);
  const double begin = MPI_Wtime();
  if (is_parent) {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met);
  } else {
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met);
  }
  const double took = MPI_Wtime() - begin;
  MPI_Comm_disconnect(&met);
  return took;
}

static void exchange(MPI_Comm inter, int is_parent) {
  double seconds[connects];
  half_trip(inter, 8, trips / 4, is_parent);
  for (int i = 0; i < 5; ++i) seconds[i] = half_trip(inter, 8, trips, is_parent);
  if (is_parent) report("latency", 8, seconds, 5);
  half_trip(inter, long_bytes, 10, is_parent);
  for (int i = 0; i < 5; ++i) seconds[i] = half_trip(inter, long_bytes, long_trips / 5, is_parent);
  if (is_parent) report("bandwidth", long_bytes, seconds, 5);
  char port[MPI_MAX_PORT_NAME] = "";
  if (is_parent) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, is_parent ? MPI_ROOT : 0, inter);
  for (int i = 0; i < connects; ++i) seconds[i] = meet(inter, port, is_parent);
  if (is_parent) report("connect", 1, seconds, connects);
  if (is_parent) MPI_Close_port(port);
}

static void measure(char* program, int count, int rounds) {
  static double spawns[most_rounds];
  static double ends[most_rounds];
  char word[] = "child";
  char* arguments[] = {word, NULL};
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm inter;
    double begin = MPI_Wtime();
    MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                   MPI_ERRCODES_IGNORE);
    spawns[i] = MPI_Wtime() - begin;
    begin = MPI_Wtime();
    MPI_Comm_disconnect(&inter);
    ends[i] = MPI_Wtime() - begin;
  }
  report("spawn", count, spawns, rounds);
  report("disconnect", count, ends, rounds);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    if (argc > 1 && strcmp(argv[1], "partner") == 0) exchange(parent, 0);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  int rounds = argc > 1 ? atoi(argv[1]) : 5;
  if (rounds < 1 || rounds > most_rounds) rounds = 5;
  const int counts[] = {1, 4, 16};
  for (int i = 0; i < 3; ++i) measure(argv[0], counts[i], rounds);
  char word[] = "partner";
  char* arguments[] = {word, NULL};
  MPI_Comm inter;
  MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                 MPI_ERRCODES_IGNORE);
  exchange(inter, 1);
  MPI_Comm_disconnect(&inter);
  MPI_Finalize();
  return 0;
}
