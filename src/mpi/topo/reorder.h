// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mpi/comm/topology.h"

/// Which process gets which place of a topology that its user allows to reorder.
///
/// The measure is the sum, over all edges, of how far apart its two processes run: on other nodes,
/// in other sockets, NUMA nodes, third-level caches or cores. Several orders are tried, of which
/// the best is taken; the given order is the first of them, so that reordering never makes the
/// measure worse and nothing moves without gain:
///   - the processes sorted by where they run;
///   - for grids, blocks as large as the groups of processes that share something, in each shape;
///   - for all, sets of nodes that hang together, grown one by one to the size of such a group.
/// What is unknown (a process that is not bound to processors) counts as far from everything.
namespace fulmar::mpi {

/// Where a process runs, from the widest to the narrowest: node, socket, NUMA node, third-level
/// cache, core. Numbers of objects; `spread` where it runs on several or that is unknown.
struct Place {
  static constexpr std::size_t levels = 5;
  static constexpr std::uint32_t spread = UINT32_MAX;
  std::array<std::uint32_t, levels> objects{spread, spread, spread, spread, spread};

  friend bool operator==(const Place&, const Place&) = default;
};

/// The nodes of a topology and how much goes between them.
struct Links {
  struct Link {
    int node;
    int weight;
  };
  std::vector<std::vector<Link>> of;  ///< by node
  /// The dimensions where it is a grid.
  std::vector<int> dims;
};

[[nodiscard]] Links links_of(const CartTopology& grid);
[[nodiscard]] Links links_of(const GraphTopology& graph);

/// Which rank of the old communicator each node gets; only ranks below the number of nodes, of
/// which `places` has at least as many, take part. Returns the same in every process with the
/// same arguments.
[[nodiscard]] std::vector<int> best_order(std::span<const Place> places, const Links& links);

/// The measure of an order.
[[nodiscard]] long cost_of(std::span<const Place> places, const Links& links,
                           std::span<const int> order);

/// Whether the processes of a communicator are on different nodes, or mpiexec bound them to
/// different places, so that a search is worthwhile; the same in all of them.
[[nodiscard]] bool placed_apart(const Comm& comm);
[[nodiscard]] bool on_several_nodes(const Comm& comm);
/// Where the processes of a communicator run, known without asking them: on several nodes no more
/// than the node, on one as mpiexec bound them. Empty where all are in the same place, so that
/// their order does not matter.
[[nodiscard]] std::vector<Place> places_of(const Comm& comm);

}  // namespace fulmar::mpi
