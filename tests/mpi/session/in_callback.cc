// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
// timeout: 20
//
// A delete function that MPI_Finalize calls for MPI_COMM_SELF may use MPI, sessions too.
#include <mpi.h>

#include "support/check.h"

namespace {

int calls = 0;

int begin_session(MPI_Comm /*comm*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  ++calls;
  MPI_Session session;
  const int code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  test::expect_equal(code, MPI_SUCCESS, "a session begins in a delete function");
  if (code == MPI_SUCCESS) MPI_Session_finalize(&session);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, begin_session, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  MPI_Finalize();
  test::expect_equal(calls, 1, "the delete function ran");
  return test::failures() == 0 ? 0 : 1;
}
