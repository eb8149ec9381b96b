/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * A tool that defines an MPI_ function gets the program's calls and reaches ours by PMPI_. */
#include <mpi.h>
#include <stdio.h>

static int seen = 0;

int MPI_Get_version(int* version, int* subversion) {
  ++seen;
  return PMPI_Get_version(version, subversion);
}

int main(void) {
  int version = 0;
  int subversion = -1;
  if (MPI_Get_version(&version, &subversion) != MPI_SUCCESS) return 1;
  if (seen != 1 || version != 5 || subversion != 0) {
    fprintf(stderr, "seen %d times, version %d.%d\n", seen, version, subversion);
    return 1;
  }
  return 0;
}
