// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Null arrays of no entries in graphs: null weights of no edges are weights (as MPI_WEIGHTS_EMPTY
// says by the letter of MPI 5.0 section 8.5.4), so that the graph has weights unless a process says
// that it has none.
// ranks: 1 2 4

#include <mpi.h>

#include "support/check.h"

namespace {

using test::expect_class;
using test::expect_equal;

void expect_weighted(MPI_Comm comm, int expected, const char* what) {
  int indegree = -1;
  int outdegree = -1;
  int weighted = -1;
  MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
  expect_equal(weighted, expected, what);
  expect_class(MPI_Dist_graph_neighbors(comm, 0, nullptr, nullptr, 0, nullptr, nullptr),
               MPI_SUCCESS, "MPI_Dist_graph_neighbors");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm graph = MPI_COMM_NULL;
  expect_class(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, nullptr,
                                     MPI_INFO_NULL, 0, &graph),
               MPI_SUCCESS, "no edges at all");
  expect_weighted(graph, 1, "no edges at all");
  MPI_Comm_free(&graph);
  expect_class(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, nullptr, nullptr, 0, nullptr,
                                              nullptr, MPI_INFO_NULL, 0, &graph),
               MPI_SUCCESS, "no neighbours at all");
  expect_weighted(graph, 1, "no neighbours at all");
  MPI_Comm_free(&graph);

  // Rank 0 alone has an edge, to itself.
  const bool first = test::rank_of(MPI_COMM_WORLD) == 0;
  const int self = 0;
  const int one = 1;
  const int weight = 5;
  for (const bool weighted : {true, false}) {
    const int* weights = weighted ? &weight : MPI_UNWEIGHTED;
    expect_class(MPI_Dist_graph_create(MPI_COMM_WORLD, first ? 1 : 0, first ? &self : nullptr,
                                       first ? &one : nullptr, first ? &self : nullptr,
                                       first ? weights : nullptr, MPI_INFO_NULL, 0, &graph),
                 MPI_SUCCESS, "an edge in one process");
    expect_weighted(graph, weighted ? 1 : 0, "an edge in one process");
    MPI_Comm_free(&graph);
  }
  expect_class(MPI_Dist_graph_create(MPI_COMM_SELF, 1, &self, &one, &self, nullptr, MPI_INFO_NULL,
                                     0, &graph),
               MPI_ERR_ARG, "null weights of an edge");
  expect_class(MPI_Cart_create(MPI_COMM_SELF, 0, nullptr, nullptr, 0, &graph), MPI_SUCCESS,
               "a grid without dimensions");
  MPI_Comm_free(&graph);
  return test::finish();
}
