// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
// env: FULMAR_ERRHANDLER=mpi_errors_return
//
// MPI_Info_create_env has before MPI_Init what MPI_INFO_ENV has afterwards (MPI 5.0, 10 and
// 11.2.2). The thread level is the one requested before the program began: there was no request.
#include <mpi.h>

#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

std::string value_of(MPI_Info info, const char* key) {
  char value[MPI_MAX_INFO_VAL] = "";
  int size = sizeof value;
  int found = 0;
  MPI_Info_get_string(info, key, &size, value, &found);
  return found != 0 ? value : "(not set)";
}

constexpr const char* keys[] = {"command", "argv", "maxprocs", "soft",
                                "host",    "arch", "wdir",     "mpi_initial_errhandler"};

}  // namespace

int main(int argc, char** argv) {
  MPI_Info before = MPI_INFO_NULL;
  expect_equal(MPI_Info_create_env(argc, argv, &before), MPI_SUCCESS, "before MPI_Init");
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Info after = MPI_INFO_NULL;
  expect_equal(MPI_Info_create_env(argc, argv, &after), MPI_SUCCESS, "after MPI_Init");
  for (const char* key : keys) {
    expect(value_of(before, key) == value_of(MPI_INFO_ENV, key), key);
    expect(value_of(after, key) == value_of(MPI_INFO_ENV, key), key);
  }
  const std::string size = std::to_string(test::size_of(MPI_COMM_WORLD));
  expect(value_of(before, "maxprocs") == size, "the number of processes");
  expect(value_of(before, "mpi_initial_errhandler") == "mpi_errors_return", "the error handler");
  for (MPI_Info info : {before, after, static_cast<MPI_Info>(MPI_INFO_ENV)}) {
    expect(value_of(info, "thread_level") == "(not set)", "no thread level was asked for");
  }
  MPI_Info_free(&before);
  MPI_Info_free(&after);
  return test::finish();
}
