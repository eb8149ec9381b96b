// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Buffers that have no meaning in some ranks (MPI 5.0 section 6.11.2): the receive buffer of
// MPI_Exscan in rank 0 may be anything, and stays as it is.
// ranks: 1 2 3

#include <mpi.h>

#include "support/check.h"

namespace {

using test::expect_class;
using test::expect_equal;

constexpr int untouched = -77;

/// The three kinds of calls, each to its end.
template <class Check>
void exscan_in_all_ways(const void* send, int* receive, const Check& check) {
  expect_class(MPI_Exscan(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS,
               "MPI_Exscan");
  check("MPI_Exscan");
  MPI_Request request = MPI_REQUEST_NULL;
  expect_class(MPI_Iexscan(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
               MPI_SUCCESS, "MPI_Iexscan");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("MPI_Iexscan");
  expect_class(
      MPI_Exscan_init(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
      MPI_SUCCESS, "MPI_Exscan_init");
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  check("MPI_Exscan_init");
}

void exscan_to_nowhere(int rank) {
  const int own = rank + 1;
  int sum = untouched;
  exscan_in_all_ways(&own, rank == 0 ? nullptr : &sum, [&](const char* call) {
    if (rank > 0) expect_equal(sum, rank * (rank + 1) / 2, call);
    sum = untouched;
  });
  exscan_in_all_ways(&own, &sum, [&](const char* call) {
    expect_equal(sum, rank > 0 ? rank * (rank + 1) / 2 : untouched, call);
    sum = untouched;
  });
}

/// In place the receive buffer is the input also in rank 0.
void exscan_in_place(int rank) {
  int value = rank + 1;
  MPI_Exscan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect_equal(value, rank > 0 ? rank * (rank + 1) / 2 : 1, "MPI_Exscan in place");
  const int code = MPI_Exscan(MPI_IN_PLACE, nullptr, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  expect_class(code, MPI_ERR_BUFFER, "in place at no address");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  exscan_to_nowhere(rank);
  exscan_in_place(rank);
  return test::finish();
}
