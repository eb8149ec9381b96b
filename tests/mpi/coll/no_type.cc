// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What the letter of the standard does not allow, but is plain (docs/liberal.md): MPI_DATATYPE_NULL and
// null arrays where there is no data, logical operations on MPI_AINT, MPI_OFFSET and MPI_COUNT.
// ranks: 1 2 4

#include <mpi.h>

#include <vector>

#include "support/check.h"

namespace {

using test::expect_class;
using test::expect_equal;

const MPI_Datatype none = MPI_DATATYPE_NULL;

void no_elements() {
  const MPI_Comm comm = MPI_COMM_WORLD;
  std::vector<int> one(static_cast<std::size_t>(test::size_of(comm)), 0);
  const int* zeros = one.data();
  expect_class(MPI_Bcast(nullptr, 0, none, 0, comm), MPI_SUCCESS, "MPI_Bcast");
  expect_class(MPI_Gather(nullptr, 0, none, nullptr, 0, none, 0, comm), MPI_SUCCESS, "MPI_Gather");
  expect_class(MPI_Scatter(nullptr, 0, none, nullptr, 0, none, 0, comm), MPI_SUCCESS,
               "MPI_Scatter");
  expect_class(MPI_Allgather(nullptr, 0, none, nullptr, 0, none, comm), MPI_SUCCESS,
               "MPI_Allgather");
  expect_class(MPI_Alltoall(nullptr, 0, none, nullptr, 0, none, comm), MPI_SUCCESS, "MPI_Alltoall");
  expect_class(MPI_Gatherv(nullptr, 0, none, nullptr, zeros, zeros, MPI_INT, 0, comm), MPI_SUCCESS,
               "MPI_Gatherv");
  expect_class(MPI_Allreduce(nullptr, nullptr, 0, none, MPI_SUM, comm), MPI_SUCCESS,
               "MPI_Allreduce");
  expect_class(MPI_Reduce(nullptr, nullptr, 0, none, MPI_LAND, 0, comm), MPI_SUCCESS, "MPI_Reduce");
  for (const MPI_Op op : {MPI_MINLOC, MPI_MAXLOC}) {
    expect_class(MPI_Reduce(nullptr, nullptr, 0, none, op, 0, comm), MPI_SUCCESS, "MPI_Reduce");
    expect_class(MPI_Allreduce(nullptr, nullptr, 0, none, op, comm), MPI_SUCCESS, "MPI_Allreduce");
    expect_class(MPI_Scan(nullptr, nullptr, 0, none, op, comm), MPI_SUCCESS, "MPI_Scan");
    expect_class(MPI_Reduce_scatter_block(nullptr, nullptr, 0, none, op, comm), MPI_SUCCESS,
                 "MPI_Reduce_scatter_block");
    MPI_Request request = MPI_REQUEST_NULL;
    expect_class(MPI_Iallreduce(nullptr, nullptr, 0, none, op, comm, &request), MPI_SUCCESS,
                 "MPI_Iallreduce");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int element = 0;
    int result = 0;
    expect_class(MPI_Allreduce(&element, &result, 1, MPI_INT, op, comm), MPI_ERR_OP,
                 "a number without a place");
  }
  expect_class(MPI_Scan(nullptr, nullptr, 0, none, MPI_BOR, comm), MPI_SUCCESS, "MPI_Scan");
  expect_class(MPI_Exscan(nullptr, nullptr, 0, none, MPI_MAX, comm), MPI_SUCCESS, "MPI_Exscan");
  expect_class(MPI_Reduce_scatter_block(nullptr, nullptr, 0, none, MPI_SUM, comm), MPI_SUCCESS,
               "MPI_Reduce_scatter_block");
  MPI_Request request = MPI_REQUEST_NULL;
  expect_class(MPI_Ibcast(nullptr, 0, none, 0, comm, &request), MPI_SUCCESS, "MPI_Ibcast");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int word = 0;
  expect_class(MPI_Bcast(&word, 1, none, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "with an element");
  expect_class(MPI_Allreduce(&word, &one[0], 1, none, MPI_SUM, MPI_COMM_SELF), MPI_ERR_TYPE,
               "a reduction with an element");
}

template <class T>
void logical(MPI_Datatype type, const char* what) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const T mine[2] = {rank == 0 ? T{7} : T{0}, T{1} << 40};
  if (size == 1) return;  // the only operand is the result
  T result[2] = {};
  expect_class(MPI_Allreduce(mine, result, 2, type, MPI_LOR, MPI_COMM_WORLD), MPI_SUCCESS, what);
  expect_equal(result[0], 1, what);
  expect_equal(result[1], 1, what);
  expect_class(MPI_Allreduce(mine, result, 2, type, MPI_LAND, MPI_COMM_WORLD), MPI_SUCCESS, what);
  expect_equal(result[0], 0, what);
  expect_equal(result[1], 1, what);
  expect_class(MPI_Allreduce(mine, result, 2, type, MPI_LXOR, MPI_COMM_WORLD), MPI_SUCCESS, what);
  expect_equal(result[0], 1, what);
  expect_equal(result[1], size % 2, what);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  no_elements();
  logical<MPI_Aint>(MPI_AINT, "MPI_AINT");
  logical<MPI_Offset>(MPI_OFFSET, "MPI_OFFSET");
  logical<MPI_Count>(MPI_COUNT, "MPI_COUNT");
  return test::finish();
}
