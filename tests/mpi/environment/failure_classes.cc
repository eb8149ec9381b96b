// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1
//
// The error classes of mpi-ext.h are classes like those of the standard: they have a class and a
// text, codes can be made of them, and classes of the program do not meet them.
#include <mpi-ext.h>
#include <mpi.h>

#include <cstring>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

void check(int error_class, const char* name) {
  int found = -1;
  expect_equal(MPI_Error_class(error_class, &found), MPI_SUCCESS, "class of a class");
  expect_equal(found, error_class, name);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = -1;
  expect_equal(MPI_Error_string(error_class, text, &length), MPI_SUCCESS, "text of a class");
  expect(std::strstr(text, name) == text && length > static_cast<int>(std::strlen(name)), text);
  expect(error_class > 0 && error_class < MPI_ERR_LASTCODE, "within the implementation's codes");
  expect((error_class & 0xff) != 0, "no exit status of success");
  int code = MPI_SUCCESS;
  expect_equal(MPI_Add_error_code(error_class, &code), MPI_SUCCESS, "a code of the class");
  expect_equal(MPI_Error_class(code, &found), MPI_SUCCESS, "class of the code");
  expect_equal(found, error_class, "it is that one");
  expect_equal(MPI_Remove_error_code(code), MPI_SUCCESS, "the code is removed");
}

}  // namespace

int main() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  check(MPIX_ERR_PROC_FAILED, "MPIX_ERR_PROC_FAILED");
  check(MPIX_ERR_PROC_FAILED_PENDING, "MPIX_ERR_PROC_FAILED_PENDING");
  check(MPIX_ERR_REVOKED, "MPIX_ERR_REVOKED");
  int own = 0;
  MPI_Add_error_class(&own);
  expect(own > MPI_ERR_LASTCODE, "a class of the program lies beyond");
  int between = 0;
  expect(MPI_Error_class(MPIX_ERR_REVOKED + 1, &between) != MPI_SUCCESS, "no other class of ours");
  return test::finish();
}
