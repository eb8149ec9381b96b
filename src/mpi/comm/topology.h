// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "mpi/comm/comm.h"

/// The virtual topology of a communicator (MPI 5.0 chapter 8). Immutable once made, and
/// shared by a communicator and its duplicates.
namespace fulmar::mpi {

/// A grid. Ranks are in row-major order: the last coordinate changes fastest.
class CartTopology {
 public:
  CartTopology(std::span<const int> dims, std::span<const int> periods);

  [[nodiscard]] std::size_t ndims() const noexcept { return dims_.size(); }
  [[nodiscard]] int dim(std::size_t i) const noexcept { return dims_[i]; }
  [[nodiscard]] bool periodic(std::size_t i) const noexcept { return periods_[i] != 0; }

  /// Requires that `rank` is one of the grid and `coords` has `ndims()` entries.
  void coords_of(int rank, std::span<int> coords) const noexcept;
  /// Requires coordinates inside the grid.
  [[nodiscard]] int rank_at(std::span<const int> coords) const noexcept;
  /// The rank `distance` places up (or down) dimension `dim` from `rank`; MPI_PROC_NULL where the
  /// grid ends before.
  [[nodiscard]] int shifted(int rank, std::size_t dim, long distance) const noexcept;

 private:
  /// How far apart in rank neighbours in a dimension are.
  [[nodiscard]] int stride(std::size_t dim) const noexcept;

  std::vector<int> dims_;
  std::vector<int> periods_;
};

/// A graph that every process has completely. `index[i]` is the number of edges of the nodes 0 to
/// i.
struct GraphTopology {
  std::vector<int> index;
  std::vector<int> edges;
  /// Whether there is, for every edge, one back, as the neighbourhood collectives need it; set by
  /// Topology.
  bool symmetric = false;

  /// The neighbours of a node, which is one of the graph.
  [[nodiscard]] std::span<const int> neighbours(int node) const noexcept;
  [[nodiscard]] bool is_symmetric() const;
};

/// A graph of which every process has only its own edges: those of `Topology`.
struct DistGraphTopology {
  bool weighted = false;
  std::vector<int> source_weights;       ///< empty where not weighted
  std::vector<int> destination_weights;  ///< likewise
};

struct Topology {
  std::variant<CartTopology, GraphTopology, DistGraphTopology> shape;
  /// Ranks that this process receives from and sends to in neighbourhood collectives, in the order
  /// of the blocks in the buffers; MPI_PROC_NULL beyond the edge of a grid. The same rank may occur
  /// several times.
  std::vector<int> sources;
  std::vector<int> destinations;

  Topology(CartTopology grid, int rank);
  Topology(GraphTopology graph, int rank);
  Topology(DistGraphTopology graph, std::vector<int> from, std::vector<int> to)
      : shape(std::move(graph)), sources(std::move(from)), destinations(std::move(to)) {}
};

/// The topology of a communicator where it is of this kind, else nullptr.
template <class Shape>
[[nodiscard]] const Shape* topology_of(const Comm& comm) noexcept {
  return comm.topology == nullptr ? nullptr : std::get_if<Shape>(&comm.topology->shape);
}

}  // namespace fulmar::mpi
