// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
// env: FULMAR_ERRHANDLER=mpi_errors_return
//
// An error handler that the program was started with (MPI 5.0, 11.2.1): it counts before MPI_Init
// and is the first one of MPI_COMM_WORLD and MPI_COMM_SELF.

#include <mpi.h>

#include <cstring>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

void starts_with_return(MPI_Comm comm, const char* what) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  expect_equal(MPI_Comm_get_errhandler(comm, &handler), MPI_SUCCESS, what);
  expect(handler == MPI_ERRORS_RETURN, what);
  MPI_Errhandler_free(&handler);
}

}  // namespace

int main(int argc, char** argv) {
  expect_class(MPI_Info_set(MPI_INFO_NULL, "key", "value"), MPI_ERR_INFO, "before MPI_Init");
  MPI_Init(&argc, &argv);
  starts_with_return(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  starts_with_return(MPI_COMM_SELF, "MPI_COMM_SELF");
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  starts_with_return(comm, "a communicator made from it");
  MPI_Comm_free(&comm);
  expect_class(MPI_Comm_rank(MPI_COMM_NULL, &argc), MPI_ERR_COMM, "without a communicator");
  char name[32] = "";
  int room = sizeof name;
  int found = 0;
  MPI_Info_get_string(MPI_INFO_ENV, "mpi_initial_errhandler", &room, name, &found);
  expect(found != 0 && std::strcmp(name, "mpi_errors_return") == 0, "what MPI_INFO_ENV says");
  MPI_Finalize();
  expect_class(MPI_Info_set(MPI_INFO_NULL, "key", "value"), MPI_ERR_INFO, "after MPI_Finalize");
  return test::failures() == 0 ? 0 : 1;
}
