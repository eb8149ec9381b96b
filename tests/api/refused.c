/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * Calls at the wrong time, and one that does not work yet; see check_refused.sh. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int value = 0;
  const char* when = argc > 1 ? argv[1] : "";
  if (strcmp(when, "before") == 0) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Init(NULL, NULL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (strcmp(when, "fatal") == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Send(&value, 1, MPI_INT, 17, 0, MPI_COMM_WORLD);
  }
  if (strcmp(when, "self") == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL); /* not that of MPI_COMM_WORLD */
    MPI_Type_contiguous(-1, MPI_INT, NULL);
  }
  MPI_Finalize();
  if (strcmp(when, "after") == 0) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  printf("returned\n");
  return 0;
}
