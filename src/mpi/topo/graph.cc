// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/topo/calls.h"
#include "mpi/topo/making.h"
#include "mpi/topo/reorder.h"

/// Graphs that every process gives whole.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr const char* graph_wanted = "a graph (MPI_Graph_create)";

Error check_edges(std::span<const int> index, const int* edges) {
  const int count = index.empty() ? 0 : index.back();
  if (edges == nullptr && count > 0) {
    return failure(ErrorClass::arg, "argument edges: null pointer to an array of %d", count);
  }
  const auto nodes = static_cast<int>(index.size());
  for (int i = 0; i < count; ++i) {
    if (edges[i] >= 0 && edges[i] < nodes) continue;
    return failure(ErrorClass::rank, "argument edges: edges[%d] is %d; nodes go from 0 to %d", i,
                   edges[i], nodes - 1);
  }
  return {};
}

Error check_graph(const Comm& comm, int nodes, std::span<const int> index, const int* edges) {
  if (const Error bad = require_intra(comm); bad.failed()) return bad;
  if (nodes < 0 || nodes > comm.size()) {
    return failure(ErrorClass::arg,
                   "argument nnodes: %d; the communicator has %d processes, so 0 to %d are allowed",
                   nodes, comm.size(), comm.size());
  }
  int before = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] < before) {
      return failure(ErrorClass::arg,
                     "argument index: index[%zu] is %d, less than %d; entry i is the number of "
                     "edges of the nodes 0 to i",
                     i, index[i], before);
    }
    before = index[i];
  }
  return check_edges(index, edges);
}

/// The arguments, once they have been checked.
GraphTopology graph_of(std::span<const int> index, const int* edges) {
  GraphTopology graph;
  graph.index.assign(index.begin(), index.end());
  if (!index.empty()) graph.edges.assign(edges, edges + index.back());
  return graph;
}

/// Which rank of `comm` each node gets.
std::vector<int> order_for(const Comm& comm, const GraphTopology& graph) {
  const std::vector<Place> places = places_of(comm);
  return places.empty() ? first_ranks(static_cast<int>(graph.index.size()))
                        : best_order(places, links_of(graph));
}

}  // namespace

Error graph_create(Library& library, Comm& comm, int nodes, std::span<const int> index,
                   const int* edges, int reorder, MPI_Comm& out) {
  out = MPI_COMM_NULL;
  const Error so_far = check_graph(comm, nodes, index, edges);
  if (comm.is_inter) return so_far;
  GraphTopology graph;
  std::vector<int> order;
  if (so_far.ok()) {
    graph = graph_of(index, edges);
    order = reorder != 0 ? order_for(comm, graph) : first_ranks(nodes);
  }
  Making making(library, comm);
  const std::uint64_t digest = digest_of(graph.edges, digest_of(graph.index));
  const std::uint64_t word = word_of_halves(digest, digest_of(order));
  if (const Error bad = making.announce(so_far, word); bad.failed()) return bad;
  if (const Error bad = making.check_same("index or edges"); bad.failed()) return bad;
  return making.finish(
      making.agreed(std::move(order)), [&](int rank) { return Topology(std::move(graph), rank); },
      out);
}

Error graph_map(Comm& comm, int nodes, std::span<const int> index, const int* edges, int& rank) {
  if (const Error bad = check_graph(comm, nodes, index, edges); bad.failed()) return bad;
  rank = place_in(order_for(comm, graph_of(index, edges)), comm.rank);
  return {};
}

Error graphdims_get(Comm& comm, int& nodes, int& edges) {
  const auto* graph = topology_of<GraphTopology>(comm);
  if (graph == nullptr) return wrong_topology(comm, graph_wanted);
  nodes = static_cast<int>(graph->index.size());
  edges = static_cast<int>(graph->edges.size());
  return {};
}

Error graph_get(Comm& comm, int maxindex, int maxedges, std::span<int> index,
                std::span<int> edges) {
  const auto* graph = topology_of<GraphTopology>(comm);
  if (graph == nullptr) return wrong_topology(comm, graph_wanted);
  if (index.size() < graph->index.size()) {
    return failure(ErrorClass::arg, "argument maxindex: %d, but the graph has %zu nodes", maxindex,
                   graph->index.size());
  }
  if (edges.size() < graph->edges.size()) {
    return failure(ErrorClass::arg, "argument maxedges: %d, but the graph has %zu edges", maxedges,
                   graph->edges.size());
  }
  std::copy(graph->index.begin(), graph->index.end(), index.begin());
  std::copy(graph->edges.begin(), graph->edges.end(), edges.begin());
  return {};
}

Error graph_neighbors_count(Comm& comm, int rank, int& count) {
  const auto* graph = topology_of<GraphTopology>(comm);
  if (graph == nullptr) return wrong_topology(comm, graph_wanted);
  count = static_cast<int>(graph->neighbours(rank).size());
  return {};
}

Error graph_neighbors(Comm& comm, int rank, int maxneighbors, std::span<int> neighbors) {
  const auto* graph = topology_of<GraphTopology>(comm);
  if (graph == nullptr) return wrong_topology(comm, graph_wanted);
  const std::span<const int> found = graph->neighbours(rank);
  if (neighbors.size() < found.size()) {
    return failure(ErrorClass::arg, "argument maxneighbors: %d, but rank %d has %zu neighbours",
                   maxneighbors, rank, found.size());
  }
  std::copy(found.begin(), found.end(), neighbors.begin());
  return {};
}

}  // namespace fulmar::mpi
