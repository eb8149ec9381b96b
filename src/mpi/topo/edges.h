// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/args.h"
#include "mpi/topo/making.h"

/// The edges of distributed graphs, sent from the processes that specify them to the processes at
/// their ends.
namespace fulmar::mpi {

/// One edge as the process at one end knows it.
struct EdgeEnd {
  int other;
  int weight;
};

/// Whether the graph has weights is for all processes together to say, but those without edges
/// often cannot tell.
struct Weighting {
  bool asked = false;       ///< a process gave MPI_WEIGHTS_EMPTY or an array, or null for no edges
  bool weighted = false;    ///< there are edges with weights
  bool unweighted = false;  ///< there are edges without
};

/// The edges of this process.
struct OwnEdges {
  std::vector<EdgeEnd> sources;
  std::vector<EdgeEnd> destinations;
  Weighting weighting;
};

/// The arguments of MPI_Dist_graph_create.
struct NamedEdges {
  std::span<const int> sources;
  std::span<const int> degrees;
  const int* destinations = nullptr;
  const int* weights = nullptr;
};

base::Error check_named(const Comm& comm, const NamedEdges& named);

/// Sends named edges to their ends; collective. Where several edges lead from one process to
/// another both have them in the same order.
base::Error collect_edges(Comm& comm, const NamedEdges& named, OwnEdges& own);

struct AdjacentArguments {
  const char* ranks;
  const char* weights;
};
/// Checks and takes one side of the arguments of MPI_Dist_graph_create_adjacent.
base::Error take_adjacent(const Comm& comm, const AdjacentArguments& arguments,
                          std::span<const int> ranks, const int* weights,
                          std::vector<EdgeEnd>& edges, Weighting& weighting);

/// A way to renumber the processes of a graph.
struct Renumbering {
  std::vector<int> order;  ///< which rank of the old communicator each node gets
  OwnEdges moved;          ///< the edges of the node that this process becomes
};
/// Searches for a better order where the processes run in different places; collective. Without
/// gain the order is that of the ranks.
base::Error renumber(Comm& comm, const OwnEdges& own, Renumbering& found);

/// The word that a process announces (see Making), besides the order: three bits of its upper half
/// tell the weighting. There is no check that an edge is given at both its ends: MPICH and Open MPI
/// do not either, and programs make graphs of which they use one direction only.
[[nodiscard]] std::uint64_t weighting_word(const Weighting& weighting) noexcept;

/// Makes the communicator once all is announced.
base::Error finish_dist_graph(Making& making, const Comm& comm, const OwnEdges& own,
                              Renumbering renumbering, MPI_Comm& out);

}  // namespace fulmar::mpi
