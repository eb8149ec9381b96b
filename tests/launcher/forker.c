/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * Rank 0 forks; the child calls MPI_Abort with code 6, or MPI_Barrier (`forker barrier`), while all
 * ranks wait in MPI. `forker threads` does the same where threads of the rank are in MPI at the
 * moment of the fork. `forker session` has used a session only, and its child calls exit before
 * it opens another one. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void* probe_for_ever(void* argument) {
  int flag = 0;
  (void)argument;
  for (;;) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  return NULL;
}

static int use_session(void) {
  MPI_Session session = MPI_SESSION_NULL;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return 1;
  return MPI_Session_finalize(&session) == MPI_SUCCESS ? 0 : 1;
}

static int fork_between_sessions(void) {
  if (use_session() != 0) return 90;
  const pid_t child = fork();
  if (child == 0) exit(0);
  waitpid(child, NULL, 0);
  return use_session() == 0 ? 0 : 91;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "session") == 0) return fork_between_sessions();
  const int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
  const int barrier = argc > 1 && strcmp(argv[1], "barrier") == 0;
  int rank = 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t thread;
  if (threads) pthread_create(&thread, NULL, probe_for_ever, NULL);
  /* Some forks while the other thread holds the lock of the library, some while it does not. */
  for (int i = 0; rank == 0 && threads && i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
  if (rank == 0 && fork() == 0) {
    if (barrier) {
      MPI_Barrier(MPI_COMM_WORLD);
    } else {
      MPI_Abort(MPI_COMM_WORLD, 6);
    }
    _exit(0);
  }
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 0;
}
