// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Errors that belong to no object go to the error handler of MPI_COMM_SELF (MPI 5.0 section 9.3),
// or to that of MPI_COMM_WORLD in programs that set one there only.
//
// ranks: 1 2

#include <mpi.h>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

int calls = 0;
MPI_Comm raised_on = MPI_COMM_NULL;

void note(MPI_Comm* comm, int* /*code*/, ...) {
  ++calls;
  raised_on = *comm;
}

/// Three calls that have no object with an error handler.
void without_object(const char* what) {
  int value = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  expect_class(MPI_Comm_rank(MPI_COMM_NULL, &value), MPI_ERR_COMM, what);
  expect_class(MPI_Type_size(MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE, what);
  expect_class(MPI_Comm_free(&comm), MPI_ERR_COMM, what);
  expect_class(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT, what);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  without_object("MPI_ERRORS_RETURN on MPI_COMM_WORLD");
  MPI_Errhandler self_handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &self_handler);
  expect(self_handler == MPI_ERRORS_ARE_FATAL, "what MPI_COMM_SELF has");

  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(note, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  without_object("a function on MPI_COMM_WORLD");
  expect_equal(calls, 4, "calls of the function");
  expect(raised_on == MPI_COMM_WORLD, "the communicator whose handler it is");

  // A request that fails after its communicator was freed.
  MPI_Comm freed = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &freed);
  MPI_Comm_set_errhandler(freed, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  int two[2] = {};
  MPI_Irecv(two, 1, MPI_INT, 0, 0, freed, &request);
  MPI_Send(two, 2, MPI_INT, 0, 0, freed);
  MPI_Comm_free(&freed);
  calls = 0;
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "a freed communicator");
  expect_equal(calls, 1, "its error goes the same way");

  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  calls = 0;
  without_object("MPI_ERRORS_RETURN on MPI_COMM_SELF");
  expect_equal(calls, 0, "the function of MPI_COMM_WORLD is not called");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  without_object("a function on MPI_COMM_SELF");
  expect_equal(calls, 4, "calls of the function");
  expect(raised_on == MPI_COMM_SELF, "MPI_COMM_SELF comes first");
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  return test::finish();
}
