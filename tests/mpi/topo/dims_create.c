// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1
// MPI_Dims_create: given, chosen and impossible dimensions.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int nodes, int count, const int* given, const int* wanted, int error_class) {
  int dims[8] = {0};
  memcpy(dims, given, sizeof(int) * (size_t)count);
  const int code = MPI_Dims_create(nodes, count, dims);
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  int bad = found != error_class;
  for (int i = 0; i < count && !bad && wanted != NULL; ++i) bad = dims[i] != wanted[i];
  if (!bad) return;
  ++failures;
  printf("%d nodes, %d dimensions: class %d instead of %d, result", nodes, count, found,
         error_class);
  for (int i = 0; i < count; ++i) printf(" %d", dims[i]);
  printf("\n");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#define LIST(...) \
  (const int[]) { __VA_ARGS__ }
  expect(6, 2, LIST(0, 0), LIST(3, 2), MPI_SUCCESS);
  expect(12, 2, LIST(0, 0), LIST(4, 3), MPI_SUCCESS);
  expect(7, 3, LIST(0, 0, 0), LIST(7, 1, 1), MPI_SUCCESS);
  expect(36, 4, LIST(0, 0, 0, 0), LIST(3, 3, 2, 2), MPI_SUCCESS);
  expect(6, 3, LIST(0, 3, 0), LIST(2, 3, 1), MPI_SUCCESS);
  expect(8, 3, LIST(4, 0, 2), LIST(4, 1, 2), MPI_SUCCESS);
  expect(8, 3, LIST(4, 1, 2), LIST(4, 1, 2), MPI_SUCCESS);
  expect(1 << 30, 3, LIST(0, 0, 0), LIST(1024, 1024, 1024), MPI_SUCCESS);
  expect(2147483647, 2, LIST(0, 0), LIST(2147483647, 1), MPI_SUCCESS);
  expect(7, 3, LIST(0, 3, 0), NULL, MPI_ERR_DIMS);
  expect(8, 2, LIST(2, 2), NULL, MPI_ERR_DIMS);
  expect(8, 2, LIST(-1, 2), NULL, MPI_ERR_DIMS);
  expect(0, 1, LIST(0), NULL, MPI_ERR_ARG);
  MPI_Finalize();
  return failures != 0;
}
