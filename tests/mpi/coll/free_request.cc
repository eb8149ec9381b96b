// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Request_free of a non-blocking collective operation: an error while it is active (MPI 5.0
// section 6.12), but not once it is known to be complete.
// ranks: 1 2 4

#include <mpi.h>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;

void until_complete(MPI_Request request) {
  for (int done = 0; done == 0;) {
    expect_class(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE), MPI_SUCCESS, "status");
  }
}

void complete() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  until_complete(request);
  expect_class(MPI_Request_free(&request), MPI_SUCCESS, "a complete barrier");
  expect(request == MPI_REQUEST_NULL, "the handle is gone");
  int sum = 0;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  until_complete(request);
  expect_class(MPI_Request_free(&request), MPI_SUCCESS, "a complete reduction");
  test::expect_equal(sum, size * (size - 1) / 2, "its result");
}

void active() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank != 0) MPI_Recv(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  if (rank == 0 && test::size_of(MPI_COMM_WORLD) > 1) {
    expect_class(MPI_Request_free(&request), MPI_ERR_REQUEST, "an active barrier");
    expect(request != MPI_REQUEST_NULL, "the handle stays");
    for (int other = 1; other < test::size_of(MPI_COMM_WORLD); ++other) {
      MPI_Send(nullptr, 0, MPI_INT, other, 1, MPI_COMM_WORLD);
    }
  }
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "the barrier");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  complete();
  active();
  complete();
  return test::finish();
}
