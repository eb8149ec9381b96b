// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Rank 1 of three is killed; the others see it under the names and classes of the program's header, and go on without it.
// deaths_test.py runs this.
#include <mpi.h>
#include <signal.h>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

constexpr int victim = 1;
constexpr int tag = 7;

/// Whether a group, which is freed, has rank 1 of `comm` alone.
void expect_victim(MPI_Comm comm, MPI_Group failed, const char* what) {
  int size = -1;
  MPI_Group_size(failed, &size);
  expect_equal(size, 1, what);
  MPI_Group all;
  MPI_Comm_group(comm, &all);
  const int first = 0;
  int rank = -1;
  MPI_Group_translate_ranks(failed, 1, &first, all, &rank);
  expect_equal(rank, victim, what);
  MPI_Group_free(&all);
  MPI_Group_free(&failed);
}

void see_death(MPI_Comm comm) {
  int value = 0;
  MPI_Status status;
  expect_class(MPI_Recv(&value, 1, MPI_INT, victim, tag, comm, &status), MPIX_ERR_PROC_FAILED,
               "a receive from the dead");
  expect_class(MPI_Send(&value, 1, MPI_INT, victim, tag, comm), MPIX_ERR_PROC_FAILED,
               "a send to the dead");
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(MPIX_ERR_PROC_FAILED, text, &length);
  expect(length > 10, "a text of the class");
  MPI_Group failed = MPI_GROUP_NULL;
  MPIX_Comm_get_failed(comm, &failed);
  expect_victim(comm, failed, "who has failed");
}

/// A receive from anybody stays active, and goes on once the death is acknowledged.
void acknowledge(MPI_Comm comm, int rank, MPI_Request* request) {
  int flag = rank == 0 ? 6 : 3;
  if (rank == 0) {
    MPI_Status status;
    expect_class(MPI_Wait(request, &status), MPIX_ERR_PROC_FAILED_PENDING,
                 "anybody could have been the dead");
    expect(*request != MPI_REQUEST_NULL, "the request stays");
  }
  expect_class(MPIX_Comm_agree(comm, &flag), MPIX_ERR_PROC_FAILED, "nobody has acknowledged");
  expect_equal(flag, 2, "the flag of the living");
  expect_class(MPIX_Comm_failure_ack(comm), MPI_SUCCESS, "the acknowledgement");
  MPI_Group acknowledged = MPI_GROUP_NULL;
  MPIX_Comm_failure_get_acked(comm, &acknowledged);
  expect_victim(comm, acknowledged, "who is acknowledged");
#ifdef MPIX_FT
  int count = -1;
  expect_class(MPIX_Comm_ack_failed(comm, 1, &count), MPI_SUCCESS, "MPIX_Comm_ack_failed");
  expect_equal(count, 1, "one is acknowledged");
#endif
  expect_class(MPIX_Comm_agree(comm, &flag), MPI_SUCCESS, "all have acknowledged");
  int value = 11;
  if (rank == 2) {
    MPI_Send(&value, 1, MPI_INT, 0, tag, comm);
  } else {
    MPI_Status status;
    expect_class(MPI_Wait(request, &status), MPI_SUCCESS, "the receive goes on");
    expect_equal(status.MPI_SOURCE, 2, "from one who lives");
  }
}

void go_on(MPI_Comm comm, int rank) {
  if (rank == 0) MPIX_Comm_revoke(comm);
  int value = 0;
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS)
    code = MPI_Recv(&value, 1, MPI_INT, 2 - rank, tag, comm, MPI_STATUS_IGNORE);
  expect_class(code, MPIX_ERR_REVOKED, "the communicator is revoked");
#ifdef MPIX_FT
  MPIX_Comm_is_revoked(comm, &value);
  expect_equal(value, 1, "this is known");
#endif
  MPI_Comm smaller = MPI_COMM_NULL;
  expect_class(MPIX_Comm_shrink(comm, &smaller), MPI_SUCCESS, "MPIX_Comm_shrink");
  expect_equal(test::size_of(smaller), 2, "the dead one is left out");
  int sum = rank + 1;
  expect_class(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, smaller), MPI_SUCCESS,
               "the living work on");
  expect_equal(sum, 4, "the sum of the living");
  MPI_Comm_free(&smaller);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, &request);
  MPI_Barrier(comm);
  if (rank == victim) raise(SIGKILL);
  see_death(comm);
  acknowledge(comm, rank, &request);
  if (rank == 0) expect_equal(value, 11, "what was sent");
  go_on(comm, rank);
  MPI_Comm_free(&comm);
  if (test::failures() == 0) std::printf("rank %d recovered\n", rank);
  return test::finish();
}
