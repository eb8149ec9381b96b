/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * A program that opens MPI when it runs, by the name without a version, and finds MPICH's ABI under mpiexec. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void* find(const char* name) {
  void* function = dlsym(RTLD_DEFAULT, name);
  if (function == NULL) fprintf(stderr, "%s is not there\n", name);
  return function;
}

int main(void) {
  int (*init)(int*, char***) = NULL;
  int (*size_of)(MPI_Comm, int*) = NULL;
  int (*finalize)(void) = NULL;
  int size = 0;
  if (dlopen("libmpi.so", RTLD_NOW | RTLD_GLOBAL) == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void**)&init = find("MPI_Init");
  *(void**)&size_of = find("MPI_Comm_size");
  *(void**)&finalize = find("MPI_Finalize");
  if (init == NULL || size_of == NULL || finalize == NULL || init(NULL, NULL) != MPI_SUCCESS)
    return 1;
  if (size_of(MPI_COMM_WORLD, &size) != MPI_SUCCESS || size != 2) return 1;
  return finalize();
}
