// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 2
//
// Revocation, agreement and shrinking under the names of MPICH and Open MPI, with the classes of errors of their headers.
#include <mpi.h>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

void agree(MPI_Comm comm, int rank) {
  int flag = rank == 0 ? 6 : 3;
  expect_class(MPIX_Comm_agree(comm, &flag), MPI_SUCCESS, "all live");
  expect_equal(flag, 2, "the bits that both gave");
#ifdef MPIX_FT
  int* tolerated = nullptr;
  int found = 0;
  MPI_Comm_get_attr(comm, MPIX_FT, &tolerated, &found);
  expect(found != 0 && *tolerated == 1, "failures are tolerated");
  MPI_Request request = MPI_REQUEST_NULL;
  flag = rank == 0 ? 6 : 3;
  MPIX_Comm_iagree(comm, &flag, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(flag, 2, "without waiting");
#endif
}

void failed_processes(MPI_Comm comm) {
  MPI_Group failed = MPI_GROUP_NULL;
  int size = -1;
  MPIX_Comm_get_failed(comm, &failed);
  MPI_Group_size(failed, &size);
  expect_equal(size, 0, "none has failed");
  if (failed != MPI_GROUP_EMPTY) MPI_Group_free(&failed);
  expect_class(MPIX_Comm_failure_ack(comm), MPI_SUCCESS, "MPIX_Comm_failure_ack");
  MPIX_Comm_failure_get_acked(comm, &failed);
  MPI_Group_size(failed, &size);
  expect_equal(size, 0, "none is acknowledged");
  if (failed != MPI_GROUP_EMPTY) MPI_Group_free(&failed);
#ifdef MPIX_FT
  expect_class(MPIX_Comm_ack_failed(comm, 1, &size), MPI_SUCCESS, "MPIX_Comm_ack_failed");
  expect_equal(size, 0, "none to acknowledge");
#endif
}

void shrink(MPI_Comm comm, int rank) {
  if (rank == 0) MPIX_Comm_revoke(comm);
  int value = 0;
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS) code = MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, comm);
  expect_class(code, MPIX_ERR_REVOKED, "the communicator is revoked");
#ifdef MPIX_FT
  MPIX_Comm_is_revoked(comm, &value);
  expect_equal(value, 1, "this is known");
#endif
  MPI_Comm smaller = MPI_COMM_NULL;
  expect_class(MPIX_Comm_shrink(comm, &smaller), MPI_SUCCESS, "MPIX_Comm_shrink");
  expect_equal(test::size_of(smaller), 2, "none is left out");
  expect_equal(test::rank_of(smaller), rank, "in the order of ranks");
  MPI_Comm_free(&smaller);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  agree(comm, rank);
  failed_processes(comm);
  shrink(comm, rank);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return test::failures() == 0 ? 0 : 1;
}
