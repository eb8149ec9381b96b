// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/comm/calls.h"
#include "mpi/topo/calls.h"
#include "mpi/topo/edges.h"
#include "mpi/topo/making.h"

/// Graphs of which every process gives a part.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr const char* dist_graph_wanted = "a distributed graph (MPI_Dist_graph_create)";

/// Returns as many as fit into the array.
void copy_part(const std::vector<int>& from, std::span<int> to) {
  std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
}

Error copy_weights(const char* argument, const std::vector<int>& from, std::size_t room, int* to) {
  if (from.empty() || room == 0 || to == MPI_UNWEIGHTED || to == MPI_WEIGHTS_EMPTY) return {};
  if (to == nullptr) {
    return failure(ErrorClass::arg,
                   "argument %s: null pointer; MPI_UNWEIGHTED says that none are wanted", argument);
  }
  copy_part(from, {to, room});
  return {};
}

struct Ready {
  Error so_far;
  const OwnEdges& own;
  bool may_move;
  Info* info;
};

/// Whatever went wrong in one process, all go this way to its end.
Error make_dist_graph(Library& library, Comm& comm, const Ready& ready, MPI_Comm& out) {
  out = MPI_COMM_NULL;
  Renumbering renumbering{first_ranks(comm.size()), {}};
  const Error lost = ready.may_move ? renumber(comm, ready.own, renumbering) : Error{};
  Making making(library, comm);
  const std::uint64_t word =
      weighting_word(ready.own.weighting) | word_of_halves(0, digest_of(renumbering.order));
  const Error bad = making.announce(ready.so_far.failed() ? ready.so_far : lost, word);
  if (bad.failed()) return bad;
  const Error made = finish_dist_graph(making, comm, ready.own, std::move(renumbering), out);
  return made.failed() ? made : set_new_info(library, out, ready.info);
}

}  // namespace

Error dist_graph_create(Library& library, Comm& comm, int /*count*/, std::span<const int> sources,
                        std::span<const int> degrees, const int* destinations, const int* weights,
                        Info* info, int reorder, MPI_Comm& out) {
  const NamedEdges named{sources, degrees, destinations, weights};
  Error so_far = check_named(comm, named);
  if (comm.is_inter) return so_far;
  OwnEdges own;
  const Error sent = collect_edges(comm, so_far.failed() ? NamedEdges{} : named, own);
  if (so_far.ok()) so_far = sent;
  return make_dist_graph(library, comm, {so_far, own, reorder != 0, info}, out);
}

Error dist_graph_create_adjacent(Library& library, Comm& comm, int /*indegree*/,
                                 std::span<const int> sources, const int* source_weights,
                                 int /*outdegree*/, std::span<const int> destinations,
                                 const int* destination_weights, Info* info, int reorder,
                                 MPI_Comm& out) {
  OwnEdges own;
  Error so_far = require_intra(comm);
  if (comm.is_inter) return so_far;
  so_far = take_adjacent(comm, {"sources", "sourceweights"}, sources, source_weights, own.sources,
                         own.weighting);
  if (so_far.ok()) {
    so_far = take_adjacent(comm, {"destinations", "destweights"}, destinations, destination_weights,
                           own.destinations, own.weighting);
  }
  if (so_far.failed()) own = {};
  return make_dist_graph(library, comm, {so_far, own, reorder != 0, info}, out);
}

Error dist_graph_neighbors_count(Comm& comm, int& indegree, int& outdegree, int& weighted) {
  const auto* graph = topology_of<DistGraphTopology>(comm);
  if (graph == nullptr) return wrong_topology(comm, dist_graph_wanted);
  indegree = static_cast<int>(comm.topology->sources.size());
  outdegree = static_cast<int>(comm.topology->destinations.size());
  weighted = graph->weighted ? 1 : 0;
  return {};
}

Error dist_graph_neighbors(Comm& comm, int /*maxindegree*/, std::span<int> sources,
                           int* source_weights, int /*maxoutdegree*/, std::span<int> destinations,
                           int* destination_weights) {
  const auto* graph = topology_of<DistGraphTopology>(comm);
  if (graph == nullptr) return wrong_topology(comm, dist_graph_wanted);
  copy_part(comm.topology->sources, sources);
  copy_part(comm.topology->destinations, destinations);
  const Error bad =
      copy_weights("sourceweights", graph->source_weights, sources.size(), source_weights);
  if (bad.failed()) return bad;
  return copy_weights("destweights", graph->destination_weights, destinations.size(),
                      destination_weights);
}

}  // namespace fulmar::mpi
