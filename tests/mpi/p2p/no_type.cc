// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Messages without elements, and to and from MPI_PROC_NULL, whose datatype is MPI_DATATYPE_NULL;
// and null arrays of no entries (docs/liberal.md).
//
// ranks: 1 2

#include <mpi.h>

#include "support/check.h"

namespace {

using test::expect_class;
using test::expect_equal;

const MPI_Datatype none = MPI_DATATYPE_NULL;

void no_elements() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int other = test::size_of(MPI_COMM_WORLD) - 1 - rank;
  MPI_Request requests[2];
  expect_class(MPI_Irecv(nullptr, 0, none, other, 1, MPI_COMM_WORLD, &requests[0]), MPI_SUCCESS,
               "MPI_Irecv");
  expect_class(MPI_Isend(nullptr, 0, none, other, 1, MPI_COMM_WORLD, &requests[1]), MPI_SUCCESS,
               "MPI_Isend");
  MPI_Status statuses[2];
  expect_class(MPI_Waitall(2, requests, statuses), MPI_SUCCESS, "MPI_Waitall");
  int count = -1;
  MPI_Get_count(&statuses[0], MPI_INT, &count);
  expect_equal(count, 0, "elements");
  expect_class(MPI_Sendrecv(nullptr, 0, none, other, 2, nullptr, 0, none, other, 2, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE),
               MPI_SUCCESS, "MPI_Sendrecv");
  int word = 0;
  expect_class(MPI_Send(&word, 1, none, rank, 3, MPI_COMM_WORLD), MPI_ERR_TYPE, "with an element");
  expect_class(MPI_Send(&word, -1, none, rank, 3, MPI_COMM_WORLD), MPI_ERR_COUNT, "a wrong count");
}

void no_process() {
  const MPI_Comm comm = MPI_COMM_WORLD;
  int word = 0;
  MPI_Status status;
  expect_class(MPI_Send(&word, 5, none, MPI_PROC_NULL, 0, comm), MPI_SUCCESS, "MPI_Send");
  expect_class(MPI_Recv(nullptr, 5, none, MPI_PROC_NULL, 0, comm, &status), MPI_SUCCESS,
               "MPI_Recv");
  expect_equal(status.MPI_SOURCE, MPI_PROC_NULL, "source");
  expect_class(MPI_Sendrecv(&word, 1, none, MPI_PROC_NULL, 0, &word, 1, none, MPI_PROC_NULL, 0,
                            comm, &status),
               MPI_SUCCESS, "MPI_Sendrecv");
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Mprobe(MPI_PROC_NULL, 0, comm, &message, &status);
  expect_class(MPI_Mrecv(nullptr, 5, none, &message, &status), MPI_SUCCESS, "MPI_Mrecv");
  expect_equal(status.MPI_SOURCE, MPI_PROC_NULL, "source of no message");
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Mprobe(MPI_PROC_NULL, 0, comm, &message, &status);
  expect_class(MPI_Imrecv(nullptr, 5, none, &message, &request), MPI_SUCCESS, "MPI_Imrecv");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_class(MPI_Psend_init(&word, 2, 5, none, MPI_PROC_NULL, 0, comm, MPI_INFO_NULL, &request),
               MPI_SUCCESS, "MPI_Psend_init");
  MPI_Start(&request);
  MPI_Pready_range(0, 1, request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  expect_class(MPI_Precv_init(&word, 2, 5, none, MPI_PROC_NULL, 0, comm, MPI_INFO_NULL, &request),
               MPI_SUCCESS, "MPI_Precv_init");
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  expect_class(MPI_Isend(&word, 1, none, MPI_PROC_NULL, 0, comm, &request), MPI_SUCCESS,
               "MPI_Isend");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_class(MPI_Recv_init(&word, 1, none, MPI_PROC_NULL, 0, comm, &request), MPI_SUCCESS,
               "MPI_Recv_init");
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  // One side only.
  const int rank = test::rank_of(comm);
  expect_class(MPI_Sendrecv(&word, 1, MPI_INT, rank, 4, &word, 1, none, MPI_PROC_NULL, 4, comm,
                            MPI_STATUS_IGNORE),
               MPI_SUCCESS, "from nobody");
  expect_class(MPI_Recv(&word, 1, MPI_INT, rank, 4, comm, MPI_STATUS_IGNORE), MPI_SUCCESS,
               "what was sent");
}

void null_arrays() {
  int count = -1;
  int flag = 0;
  expect_class(MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE), MPI_SUCCESS, "MPI_Waitall");
  expect_class(MPI_Waitsome(0, nullptr, &count, nullptr, MPI_STATUSES_IGNORE), MPI_SUCCESS,
               "MPI_Waitsome");
  expect_equal(count, MPI_UNDEFINED, "MPI_Waitsome of nothing");
  expect_class(MPI_Testall(0, nullptr, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS, "MPI_Testall");
  expect_class(MPI_Startall(0, nullptr), MPI_SUCCESS, "MPI_Startall");
  MPI_Datatype type = MPI_DATATYPE_NULL;
  expect_class(MPI_Type_indexed(0, nullptr, nullptr, MPI_INT, &type), MPI_SUCCESS,
               "MPI_Type_indexed");
  MPI_Type_free(&type);
  expect_class(MPI_Type_create_struct(0, nullptr, nullptr, nullptr, &type), MPI_SUCCESS,
               "MPI_Type_create_struct");
  MPI_Type_free(&type);
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group none_of_them = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  expect_class(MPI_Group_incl(world, 0, nullptr, &none_of_them), MPI_SUCCESS, "MPI_Group_incl");
  MPI_Group_size(none_of_them, &count);
  expect_equal(count, 0, "its size");
  MPI_Group_free(&world);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  no_elements();
  no_process();
  null_arrays();
  return test::finish();
}
