/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * A part of a program that uses MPI by the ABI of the header that it is compiled with; see host.c. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int plugin_begin(void);
int plugin_work(void);
int plugin_end(void);

static MPI_Comm mine;
static int deleted;

static int count_deletion(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  deleted += value == &mine;
  return MPI_SUCCESS;
}

static void concatenate(void* in, void* inout, int* count, MPI_Datatype* type) {
  int i;
  if (*type != MPI_INT) return;
  for (i = 0; i < *count; ++i) ((int*)inout)[i] += 10 * ((int*)in)[i];
}

/* MPI is initialized by whoever comes first. */
int plugin_begin(void) {
  int is_on = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Initialized(&is_on);
  if (!is_on && MPI_Init(NULL, NULL) != MPI_SUCCESS) return 1;
  MPI_Get_library_version(text, &length);
  if (strncmp(text, "Fulmar", 6) != 0) return 2;
  return MPI_Comm_dup(MPI_COMM_WORLD, &mine) == MPI_SUCCESS ? 0 : 3;
}

/* Messages, a reduction by a function of the plugin, an attribute with a callback, an error that its handler lets pass. */
int plugin_work(void) {
  int rank, size, key, sum = 0, received = -1;
  MPI_Op op;
  MPI_Status status;
  MPI_Comm twin;
  MPI_Comm_rank(mine, &rank);
  MPI_Comm_size(mine, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &received, 1, MPI_INT, MPI_ANY_SOURCE,
               MPI_ANY_TAG, mine, &status);
  if (received != (rank + size - 1) % size || status.MPI_SOURCE != received || status.MPI_TAG != 5)
    return 1;
  MPI_Op_create(concatenate, 0, &op);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, mine);
  MPI_Op_free(&op);
  if (size == 2 && sum != 1) return 2; /* 10 * 0 + 1 */
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &key, NULL);
  MPI_Comm_dup(mine, &twin);
  MPI_Comm_set_attr(twin, key, &mine);
  MPI_Comm_free(&twin);
  MPI_Comm_free_keyval(&key);
  if (deleted != 1) return 3;
  deleted = 0;
  MPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
  return MPI_Send(&rank, 1, MPI_INT, size, 0, mine) == MPI_ERR_RANK ? 0 : 4;
}

/* MPI is finalized by whoever comes last. */
int plugin_end(void) {
  int is_off = 0;
  if (MPI_Comm_free(&mine) != MPI_SUCCESS) return 1;
  MPI_Finalized(&is_off);
  return is_off;
}
