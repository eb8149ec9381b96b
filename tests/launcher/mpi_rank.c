// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// An MPI program that ends in the way its arguments say: finalize | report (say who it is, and the
// sum of all ranks) | maxprocs (of MPI_INFO_ENV and, before
// MPI_Init, of MPI_Info_create_env) | sleep | abort RANK CODE | leave RANK CODE (exit
// inside MPI) | start COMMAND (run it inside MPI) | kill RANK (by SIGKILL, while the others wait for it in
// MPI) | session_abort RANK CODE (in a program that uses sessions only). The ranks that are not named wait to be
// ended.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report(void) {
  int rank = -1;
  int size = -1;
  int sum = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d of %d, sum %d\n", rank, size, sum);
  fflush(stdout);
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 91;
}

static void print_maxprocs(MPI_Info info, const char* end) {
  char text[32] = "none";
  int length = sizeof text;
  int found = 0;
  MPI_Info_get_string(info, "maxprocs", &length, text, &found);
  printf("%s%s", text, end);
  fflush(stdout);
}

static int maxprocs(int argc, char** argv) {
  MPI_Info before = MPI_INFO_NULL;
  MPI_Info_create_env(argc, argv, &before);
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 90;
  print_maxprocs(before, "=");
  print_maxprocs(MPI_INFO_ENV, "\n");
  MPI_Info_free(&before);
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 91;
}

static int start(const char* command) {
  const int status = system(command);
  return MPI_Finalize() == MPI_SUCCESS && status == 0 ? 0 : 91;
}

static void wait_in_mpi(int rank, int chosen) {
  int value = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == chosen) raise(SIGKILL);
  MPI_Recv(&value, 1, MPI_INT, chosen, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void abort_in_session(int rank, int chosen, int code) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "abort", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  if (rank == chosen) MPI_Abort(comm, code);
  for (;;) pause();
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "finalize";
  const char* rank_text = getenv("FULMAR_RANK");
  const int rank = rank_text == NULL ? 0 : atoi(rank_text);
  const int chosen = argc > 2 ? atoi(argv[2]) : -1;
  const int code = argc > 3 ? atoi(argv[3]) : 0;
  if (strcmp(how, "maxprocs") == 0) return maxprocs(argc, argv);
  if (strcmp(how, "session_abort") == 0) abort_in_session(rank, chosen, code);
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 90;
  if (strcmp(how, "report") == 0) return report();
  if (strcmp(how, "start") == 0) return start(argv[2]);
  if (strcmp(how, "kill") == 0) wait_in_mpi(rank, chosen);
  if (strcmp(how, "finalize") == 0) return MPI_Finalize() == MPI_SUCCESS ? 0 : 91;
  if (rank == chosen && strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, code);
  if (rank == chosen && strcmp(how, "leave") == 0) exit(code);
  printf("%d\n", (int)getpid());
  fflush(stdout);
  for (;;) pause();
}
