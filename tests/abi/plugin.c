/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * A plugin that uses MPI in a program that does not; see plugin_host.c. */
#include <mpi.h>

int plugin_begin(void);
int plugin_work(void);
int plugin_end(void);

int plugin_begin(void) { return MPI_Init(0, 0) == MPI_SUCCESS ? 0 : 1; }

/* Sends itself a message, if MPI is on. */
int plugin_work(void) {
  int is_on = 0;
  int sent = 17;
  int received = 0;
  MPI_Initialized(&is_on);
  if (!is_on) return 1;
  MPI_Sendrecv(&sent, 1, MPI_INT, 0, 0, &received, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  return received == sent ? 0 : 2;
}

int plugin_end(void) { return MPI_Finalize() == MPI_SUCCESS ? 0 : 1; }
