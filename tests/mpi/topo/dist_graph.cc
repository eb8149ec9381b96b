// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Distributed graphs, named by anybody or by the processes at their edges, with and without
// weights: every process learns its own edges, all of them and no others.
// ranks: 1 2 3 5

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::rank_of;
using test::size_of;
using Ints = std::vector<int>;

struct Edge {
  int source;
  int dest;
  int weight;
  int namer;  ///< the process that names it
};

enum class Weights { none, given };

std::vector<Edge> draw(test::Shared& random, int size) {
  std::vector<Edge> edges;
  for (int count = random.below(4 * size); count > 0; --count) {
    edges.push_back(
        {random.below(size), random.below(size), random.below(100), random.below(size)});
  }
  return edges;
}

using Ends = std::vector<std::pair<int, int>>;

Ends sorted(const Ints& ranks, const Ints& weights) {
  Ends ends;
  for (std::size_t i = 0; i < ranks.size(); ++i) ends.emplace_back(ranks[i], weights[i]);
  std::sort(ends.begin(), ends.end());
  return ends;
}

void check_edges(MPI_Comm comm, const std::vector<Edge>& edges, Weights weights) {
  const int rank = rank_of(comm);
  Ends from;
  Ends to;
  for (const Edge& edge : edges) {
    const int weight = weights == Weights::given ? edge.weight : -3;
    if (edge.source == rank) to.emplace_back(edge.dest, weight);
    if (edge.dest == rank) from.emplace_back(edge.source, weight);
  }
  std::sort(from.begin(), from.end());
  std::sort(to.begin(), to.end());
  int status = -1;
  MPI_Topo_test(comm, &status);
  expect_equal(status, MPI_DIST_GRAPH, "kind of topology");
  int indegree = -1;
  int outdegree = -1;
  int weighted = -1;
  MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
  expect_equal(indegree, from.size(), "edges that end here");
  expect_equal(outdegree, to.size(), "edges that start here");
  expect_equal(weighted, weights == Weights::given ? 1 : 0, "whether there are weights");
  Ints sources(from.size() + 1, -7);
  Ints source_weights(from.size() + 1, -3);
  Ints dests(to.size() + 1, -7);
  Ints dest_weights(to.size() + 1, -3);
  MPI_Dist_graph_neighbors(comm, indegree, sources.data(), source_weights.data(), outdegree,
                           dests.data(), dest_weights.data());
  expect(sources.back() == -7 && dests.back() == -7, "nothing is written behind the neighbours");
  expect(source_weights.back() == -3 && dest_weights.back() == -3, "nor behind the weights");
  const Ints all_sources = sources;
  sources.pop_back();
  dests.pop_back();
  expect(sorted(sources, source_weights) == from, "edges that end here, with their weights");
  expect(sorted(dests, dest_weights) == to, "edges that start here, with their weights");
  if (indegree == 0) return;
  Ints first(from.size(), -7);
  MPI_Dist_graph_neighbors(comm, indegree - 1, first.data(), MPI_UNWEIGHTED, 0, nullptr,
                           MPI_UNWEIGHTED);
  expect_equal(first.back(), -7, "only as many as there is room for");
  expect(std::equal(first.begin(), first.end() - 1, all_sources.begin()), "the first of them");
}

/// Every edge is named by some process, some of them in one call with others of the same source.
MPI_Comm create(const std::vector<Edge>& edges, Weights weights, int reorder) {
  Ints sources;
  Ints degrees;
  Ints dests;
  Ints values;
  for (const Edge& edge : edges) {
    if (edge.namer != rank_of(MPI_COMM_WORLD)) continue;
    if (sources.empty() || sources.back() != edge.source) {
      sources.push_back(edge.source);
      degrees.push_back(0);
    }
    ++degrees.back();
    dests.push_back(edge.dest);
    values.push_back(edge.weight);
  }
  const int* told = values.empty() ? MPI_WEIGHTS_EMPTY : values.data();
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                        degrees.data(), dests.data(),
                        weights == Weights::given ? told : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder,
                        &comm);
  return comm;
}

MPI_Comm create_adjacent(const std::vector<Edge>& edges, Weights weights, int reorder) {
  Ints from;
  Ints from_weights;
  Ints to;
  Ints to_weights;
  for (const Edge& edge : edges) {
    if (edge.source == rank_of(MPI_COMM_WORLD)) {
      to.push_back(edge.dest);
      to_weights.push_back(edge.weight);
    }
    if (edge.dest == rank_of(MPI_COMM_WORLD)) {
      from.push_back(edge.source);
      from_weights.push_back(edge.weight);
    }
  }
  const auto told = [&](const Ints& values) {
    if (weights == Weights::none) return MPI_UNWEIGHTED;
    return values.empty() ? MPI_WEIGHTS_EMPTY : const_cast<int*>(values.data());
  };
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(),
                                 told(from_weights), static_cast<int>(to.size()), to.data(),
                                 told(to_weights), MPI_INFO_NULL, reorder, &comm);
  if (comm == MPI_COMM_NULL) return comm;
  int weighted = 0;
  int indegree = 0;
  int outdegree = 0;
  MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
  if (reorder != 0) return comm;
  Ints sources(static_cast<std::size_t>(indegree) + 1);
  Ints dests(static_cast<std::size_t>(outdegree) + 1);
  MPI_Dist_graph_neighbors(comm, indegree, sources.data(), MPI_UNWEIGHTED, outdegree, dests.data(),
                           MPI_UNWEIGHTED);
  sources.pop_back();
  dests.pop_back();
  expect(sources == from && dests == to, "neighbours in the order given");
  return comm;
}

void check_random(test::Shared& random) {
  const std::vector<Edge> edges = draw(random, size_of(MPI_COMM_WORLD));
  for (const Weights weights : {Weights::none, Weights::given}) {
    for (const int reorder : {0, 1}) {
      MPI_Comm one = create(edges, weights, reorder);
      check_edges(one, edges, weights);
      if (reorder == 0) expect_equal(rank_of(one), rank_of(MPI_COMM_WORLD), "rank");
      MPI_Comm copy = MPI_COMM_NULL;
      MPI_Comm_dup(one, &copy);
      MPI_Comm_free(&one);
      check_edges(copy, edges, weights);
      MPI_Comm_free(&copy);
      MPI_Comm other = create_adjacent(edges, weights, reorder);
      check_edges(other, edges, weights);
      MPI_Comm_free(&other);
    }
  }
}

/// Edges given at one of their ends only are kept as given: some programs use one direction.
void check_one_sided() {
  const std::array<int, 2> ring{rank_of(MPI_COMM_WORLD),
                                (rank_of(MPI_COMM_WORLD) + 1) % size_of(MPI_COMM_WORLD)};
  for (const int sources : {0, 2}) {
    const int destinations = 2 - sources;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, ring.data(), MPI_UNWEIGHTED,
                                   destinations, ring.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comm);
    int in = -1;
    int out = -1;
    int weighted = -1;
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    expect_equal(in, sources, "sources given alone");
    expect_equal(out, destinations, "destinations given alone");
    expect_equal(weighted, 0, "no weights");
    std::array<int, 2> from{-1, -1};
    std::array<int, 2> to{-1, -1};
    MPI_Dist_graph_neighbors(comm, in, from.data(), MPI_UNWEIGHTED, out, to.data(), MPI_UNWEIGHTED);
    expect((in == 0 ? to : from) == ring, "neighbours as given");
    MPI_Comm_free(&comm);
  }
}

void check_errors() {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int size = size_of(world);
  const int rank = rank_of(world);
  int one = 1;
  int degree = 1;
  int bad = size;
  int weight = -1;
  MPI_Comm comm = MPI_COMM_NULL;
  const auto make = [&](const int* source, const int* dest, const int* weights) {
    return MPI_Dist_graph_create(world, 1, source, &degree, dest, weights, MPI_INFO_NULL, 0, &comm);
  };
  expect_class(make(&bad, &rank, MPI_UNWEIGHTED), MPI_ERR_RANK, "wrong source");
  expect_class(make(&rank, &bad, MPI_UNWEIGHTED), MPI_ERR_RANK, "wrong destination");
  expect_class(make(&rank, &rank, &weight), MPI_ERR_ARG, "negative weight");
  expect_class(make(&rank, &rank, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG, "no weights");
  expect_class(make(&rank, nullptr, MPI_UNWEIGHTED), MPI_ERR_ARG, "no destinations");
  degree = -1;
  expect_class(make(&rank, &rank, MPI_UNWEIGHTED), MPI_ERR_ARG, "negative degree");
  degree = 1;
  if (size > 1) {
    const int code = make(rank == 0 ? &bad : &rank, &rank, MPI_UNWEIGHTED);
    expect_class(code, rank == 0 ? MPI_ERR_RANK : MPI_ERR_OTHER, "an error of one is everybody's");
    expect_class(make(&rank, &rank, rank == 0 ? &one : MPI_UNWEIGHTED), MPI_ERR_ARG,
                 "only some edges have weights");
  }
  expect_class(MPI_Dist_graph_create_adjacent(world, 1, &bad, MPI_UNWEIGHTED, 0, nullptr,
                                              MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
               MPI_ERR_RANK, "wrong source");
  expect_class(MPI_Dist_graph_create_adjacent(world, 0, nullptr, MPI_WEIGHTS_EMPTY, 1, &rank,
                                              nullptr, MPI_INFO_NULL, 0, &comm),
               MPI_ERR_ARG, "no weights");
  expect(comm == MPI_COMM_NULL, "nothing was made");
  expect_class(MPI_Dist_graph_neighbors_count(world, &one, &one, &one), MPI_ERR_TOPOLOGY,
               "no topology");
  expect_class(MPI_Dist_graph_neighbors(world, 1, &one, &one, 1, &one, &one), MPI_ERR_TOPOLOGY,
               "no topology");
}

void check_hints() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, nullptr, MPI_WEIGHTS_EMPTY, 0, nullptr,
                                 MPI_WEIGHTS_EMPTY, info, 0, &comm);
  MPI_Info_free(&info);
  MPI_Comm_get_info(comm, &info);
  char value[8] = "";
  int room = sizeof value;
  int found = 0;
  MPI_Info_get_string(info, "mpi_assert_no_any_tag", &room, value, &found);
  expect(found != 0 && std::strcmp(value, "true") == 0, "the hint that was given");
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  test::Shared random(argc, argv);
  check_random(random);
  for (int i = 0; i < 8; ++i) check_random(random);
  check_one_sided();
  check_hints();
  check_errors();
  return test::finish();
}
