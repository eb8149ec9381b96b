// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1
// env: FULMAR_ERRHANDLER=mpi_errors_return
//
// MPI_Session_init cannot succeed: its error goes to the handler that it was given (MPI 5.0,
// 11.3.1), not to the one of MPI_COMM_SELF, which does not exist.

#include <mpi.h>

#include <cstdlib>
#include <cstring>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

int calls = 0;
int code_seen = MPI_SUCCESS;

void on_error(MPI_Session* session, int* code, ...) {
  ++calls;
  code_seen = *code;
  expect(*session == MPI_SESSION_NULL, "there is no session");
}

void on_comm_error(MPI_Comm* /*comm*/, int* /*code*/, ...) {}

}  // namespace

int main() {
  // A job that no process can join.
  ::setenv("FULMAR_JOB_FD", "987654", 1);
  ::setenv("FULMAR_JOB_SOCKET", "nowhere", 1);
  ::setenv("FULMAR_RANK", "0", 1);
  ::setenv("FULMAR_SIZE", "2", 1);

  MPI_Session session = MPI_SESSION_NULL;
  const int code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  expect(code != MPI_SUCCESS, "the error is returned");
  expect(session == MPI_SESSION_NULL, "no session");
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  expect(std::strstr(text, "FULMAR_JOB") != nullptr, "the text says what is wrong");

  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Session_create_errhandler(on_error, &handler);
  for (int turn = 1; turn <= 2; ++turn) {
    expect(MPI_Session_init(MPI_INFO_NULL, handler, &session) == code, "the same error again");
    expect_equal(calls, turn, "calls of the function");
    expect_equal(code_seen, code, "what it was told");
  }
  expect_equal(MPI_Errhandler_free(&handler), MPI_SUCCESS, "free the handler");
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  expect_equal(calls, 2, "a freed handler is not called any more");

  // A handler for communicators is the wrong one: FULMAR_ERRHANDLER decides then.
  MPI_Comm_create_errhandler(on_comm_error, &handler);
  test::expect_class(MPI_Session_init(MPI_INFO_NULL, handler, &session), MPI_ERR_ERRHANDLER,
                     "handler of another kind");
  MPI_Errhandler_free(&handler);
  return test::failures() == 0 ? 0 : 1;
}
