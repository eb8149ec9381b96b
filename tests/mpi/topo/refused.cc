// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Arguments that are wrong in one rank: topologies are then made in none, and neighbourhood
// collectives of the others end.
// ranks: 1 2 4

#include <mpi.h>

#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;

bool last = false;
int rank = 0;
int size = 1;

void expect_failed(int code, int own_class, MPI_Comm made, const char* call) {
  expect_class(code, last ? own_class : MPI_ERR_OTHER, call);
  expect(made == MPI_COMM_NULL, call);
  int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  test::expect_equal(sum, size, call);
}

void making() {
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm made = MPI_COMM_NULL;
  const int periodic = 1;
  int code = MPI_Cart_create(world, 1, last ? nullptr : &size, &periodic, 0, &made);
  expect_failed(code, MPI_ERR_ARG, made, "MPI_Cart_create");
  code = MPI_Cart_create(world, last ? -1 : 1, &size, &periodic, 1, &made);
  expect_failed(code, MPI_ERR_ARG, made, "MPI_Cart_create of no dimensions");
  const int index = 0;
  code = MPI_Graph_create(world, 1, last ? nullptr : &index, nullptr, 0, &made);
  expect_failed(code, MPI_ERR_ARG, made, "MPI_Graph_create");
  const int one = 1;
  for (const int reorder : {0, 1}) {
    code = MPI_Dist_graph_create(world, 1, last ? nullptr : &rank, &one, &rank, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, reorder, &made);
    expect_failed(code, MPI_ERR_ARG, made, "MPI_Dist_graph_create");
    code = MPI_Dist_graph_create_adjacent(world, 1, last ? nullptr : &rank, MPI_UNWEIGHTED, 1,
                                          &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &made);
    expect_failed(code, MPI_ERR_ARG, made, "MPI_Dist_graph_create_adjacent");
  }
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(world, 1, &size, &periodic, 0, &grid);
  code = MPI_Cart_sub(grid, &one, last ? nullptr : &made);
  expect_failed(code, MPI_ERR_ARG, made, "MPI_Cart_sub");
  MPI_Comm_free(&grid);
}

/// On a ring of all ranks: two blocks each.
void neighbourhoods(int count) {
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  std::vector<int> from(2 * static_cast<std::size_t>(count), rank);
  std::vector<int> to(from.size(), -1);
  const std::vector<int> counts(2, count);
  const std::vector<int> displs = {0, count};
  const std::vector<MPI_Aint> bytes = {0, 4 * static_cast<MPI_Aint>(count)};
  const std::vector<MPI_Datatype> types(2, MPI_INT);
  const int wanted = last ? MPI_ERR_BUFFER : MPI_SUCCESS;
  int* const null = nullptr;
  for (int* receive : {null, from.data()}) {
    int* room = last ? receive : to.data();
    expect_class(MPI_Neighbor_alltoall(from.data(), count, MPI_INT, room, count, MPI_INT, ring),
                 wanted, "MPI_Neighbor_alltoall");
    expect_class(MPI_Neighbor_alltoallv(from.data(), counts.data(), displs.data(), MPI_INT, room,
                                        counts.data(), displs.data(), MPI_INT, ring),
                 wanted, "MPI_Neighbor_alltoallv");
    expect_class(MPI_Neighbor_alltoallw(from.data(), counts.data(), bytes.data(), types.data(),
                                        room, counts.data(), bytes.data(), types.data(), ring),
                 wanted, "MPI_Neighbor_alltoallw");
    MPI_Request request = MPI_REQUEST_NULL;
    expect_class(MPI_Ineighbor_alltoallv(from.data(), counts.data(), displs.data(), MPI_INT, room,
                                         counts.data(), displs.data(), MPI_INT, ring, &request),
                 wanted, "MPI_Ineighbor_alltoallv");
    expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "its end");
  }
  int* send = last ? nullptr : from.data();
  expect_class(MPI_Neighbor_allgather(send, count, MPI_INT, to.data(), count, MPI_INT, ring),
               wanted, "MPI_Neighbor_allgather");
  expect_class(MPI_Neighbor_alltoallv(send, counts.data(), displs.data(), MPI_INT, to.data(),
                                      counts.data(), displs.data(), MPI_INT, ring),
               wanted, "MPI_Neighbor_alltoallv without a send buffer");
  expect_class(MPI_Neighbor_alltoall(from.data(), count, MPI_INT, to.data(), count, MPI_INT, ring),
               MPI_SUCCESS, "the next call");
  test::expect_equal(to.front(), (rank + size - 1) % size, "from the rank before");
  test::expect_equal(to.back(), (rank + 1) % size, "from the next rank");
  MPI_Comm_free(&ring);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  last = rank == size - 1;
  making();
  neighbourhoods(1);
  neighbourhoods(100000);
  return test::finish();
}
