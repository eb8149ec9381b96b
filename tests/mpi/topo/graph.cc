// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Graph topologies that every process gives whole: random graphs come back as they were given.
// ranks: 1 2 4 5

#include <mpi.h>

#include <array>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::rank_of;
using test::size_of;
using Ints = std::vector<int>;

struct Graph {
  Ints index;
  Ints edges;

  [[nodiscard]] Ints of(int node) const {
    const auto i = static_cast<std::size_t>(node);
    return {edges.begin() + (node == 0 ? 0 : index[i - 1]), edges.begin() + index[i]};
  }
};

/// Any edges, also to itself and several to the same node.
Graph draw(test::Shared& random, int nodes) {
  Graph graph;
  for (int node = 0; node < nodes; ++node) {
    for (int degree = random.below(4); degree > 0; --degree) {
      graph.edges.push_back(random.below(nodes));
    }
    graph.index.push_back(static_cast<int>(graph.edges.size()));
  }
  graph.edges.reserve(1);  // so that there is an address
  return graph;
}

void check_graph(MPI_Comm comm, const Graph& graph) {
  const auto nodes = static_cast<int>(graph.index.size());
  const auto edges = static_cast<int>(graph.edges.size());
  int status = -1;
  MPI_Topo_test(comm, &status);
  expect_equal(status, MPI_GRAPH, "kind of topology");
  int found_nodes = -1;
  int found_edges = -1;
  MPI_Graphdims_get(comm, &found_nodes, &found_edges);
  expect_equal(found_nodes, nodes, "nodes");
  expect_equal(found_edges, edges, "edges");
  Ints index(graph.index.size());
  Ints to(graph.edges.size() + 1);
  MPI_Graph_get(comm, nodes, edges, index.data(), to.data());
  to.pop_back();
  expect(index == graph.index && to == graph.edges, "the whole graph");
  for (int rank = 0; rank < nodes; ++rank) {
    const Ints wanted = graph.of(rank);
    int count = -1;
    MPI_Graph_neighbors_count(comm, rank, &count);
    expect_equal(count, wanted.size(), "number of neighbours");
    Ints neighbours(wanted.size() + 1, -7);
    MPI_Graph_neighbors(comm, rank, count, neighbours.data());
    expect_equal(neighbours.back(), -7, "nothing is written behind the neighbours");
    neighbours.pop_back();
    expect(neighbours == wanted, "neighbours in the order given");
    if (count == 0) continue;
    expect_class(MPI_Graph_neighbors(comm, rank, count - 1, neighbours.data()), MPI_ERR_ARG,
                 "too little room for the neighbours");
  }
}

void check_random(test::Shared& random) {
  const int nodes = 1 + random.below(size_of(MPI_COMM_WORLD));
  const Graph graph = draw(random, nodes);
  MPI_Comm comm = MPI_COMM_NULL;
  const int reorder = random.below(2);
  MPI_Graph_create(MPI_COMM_WORLD, nodes, graph.index.data(), graph.edges.data(), reorder, &comm);
  int mapped = -1;
  MPI_Graph_map(MPI_COMM_WORLD, nodes, graph.index.data(), graph.edges.data(), &mapped);
  if (reorder != 0) {
    expect_equal(mapped, comm == MPI_COMM_NULL ? MPI_UNDEFINED : rank_of(comm), "mapped rank");
  } else {
    expect_equal(comm == MPI_COMM_NULL, rank_of(MPI_COMM_WORLD) >= nodes, "who is in the graph");
  }
  if (comm == MPI_COMM_NULL) return;
  expect_equal(size_of(comm), nodes, "size");
  check_graph(comm, graph);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_free(&comm);
  check_graph(copy, graph);
  MPI_Comm_free(&copy);
}

void check_errors() {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int size = size_of(world);
  MPI_Comm comm = world;
  Ints index(static_cast<std::size_t>(size) + 1, 1);
  Ints edges = {0, 0};
  MPI_Graph_create(world, 0, index.data(), edges.data(), 0, &comm);
  expect(comm == MPI_COMM_NULL, "a graph without nodes gives no communicator");
  const auto create = [&](int nodes, const int* to) {
    return MPI_Graph_create(world, nodes, index.data(), to, 0, &comm);
  };
  expect_class(create(-1, edges.data()), MPI_ERR_ARG, "negative number of nodes");
  expect_class(create(size + 1, edges.data()), MPI_ERR_ARG, "more nodes than processes");
  expect_class(create(size, nullptr), MPI_ERR_ARG, "no edges given");
  edges[0] = size;
  expect_class(create(size, edges.data()), MPI_ERR_RANK, "an edge to nowhere");
  edges[0] = -1;
  expect_class(create(size, edges.data()), MPI_ERR_RANK, "an edge to a negative node");
  edges[0] = 0;
  index[0] = -1;
  expect_class(create(size, edges.data()), MPI_ERR_ARG, "a negative index");
  index[0] = 2;
  if (size > 1) expect_class(create(size, edges.data()), MPI_ERR_ARG, "an index that goes down");
  index[0] = rank_of(world) == 0 ? 0 : 1;
  if (size > 1) expect_class(create(size, edges.data()), MPI_ERR_ARG, "ranks that disagree");
  index[0] = 1;
  create(size, edges.data());
  int some = 0;
  expect_class(MPI_Graph_neighbors_count(comm, size, &some), MPI_ERR_RANK, "rank too large");
  expect_class(MPI_Graph_neighbors(comm, -1, 1, &some), MPI_ERR_RANK, "negative rank");
  expect_class(MPI_Graph_get(comm, size - 1, 1, index.data(), edges.data()), MPI_ERR_ARG,
               "too little room for the index");
  expect_class(MPI_Graph_get(comm, size, 0, index.data(), edges.data()), MPI_ERR_ARG,
               "too little room for the edges");
  expect_class(MPI_Cartdim_get(comm, &some), MPI_ERR_TOPOLOGY, "a graph is no grid");
  expect_class(MPI_Dist_graph_neighbors_count(comm, &some, &some, &some), MPI_ERR_TOPOLOGY,
               "nor a distributed graph");
  MPI_Comm_free(&comm);
  expect_class(MPI_Graphdims_get(world, &some, &some), MPI_ERR_TOPOLOGY, "no topology");
  expect_class(MPI_Graph_neighbors_count(world, 0, &some), MPI_ERR_TOPOLOGY, "no topology");
  expect_class(MPI_Graph_neighbors(world, 0, 1, &some), MPI_ERR_TOPOLOGY, "no topology");
  expect_class(MPI_Graph_get(world, 1, 1, &some, &some), MPI_ERR_TOPOLOGY, "no topology");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  test::Shared random(argc, argv);
  for (int i = 0; i < 20; ++i) check_random(random);
  check_errors();
  return test::finish();
}
