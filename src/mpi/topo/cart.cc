// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/topo/calls.h"
#include "mpi/topo/making.h"

/// Inquiry functions of Cartesian communicators.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr const char* grid_wanted = "a Cartesian topology (MPI_Cart_create)";

Error too_few(int maxdims, std::size_t ndims) {
  return failure(ErrorClass::arg, "argument maxdims: %d, but the grid has %zu dimensions", maxdims,
                 ndims);
}

}  // namespace

Error cartdim_get(Comm& comm, int& ndims) {
  const auto* grid = topology_of<CartTopology>(comm);
  if (grid == nullptr) return wrong_topology(comm, grid_wanted);
  ndims = static_cast<int>(grid->ndims());
  return {};
}

Error cart_get(Comm& comm, int maxdims, std::span<int> dims, std::span<int> periods,
               std::span<int> coords) {
  const auto* grid = topology_of<CartTopology>(comm);
  if (grid == nullptr) return wrong_topology(comm, grid_wanted);
  if (dims.size() < grid->ndims()) return too_few(maxdims, grid->ndims());
  for (std::size_t i = 0; i < grid->ndims(); ++i) {
    dims[i] = grid->dim(i);
    periods[i] = grid->periodic(i) ? 1 : 0;
  }
  grid->coords_of(comm.rank, coords);
  return {};
}

Error cart_rank(Comm& comm, const int* coords, int& rank) {
  const auto* grid = topology_of<CartTopology>(comm);
  if (grid == nullptr) return wrong_topology(comm, grid_wanted);
  if (coords == nullptr && grid->ndims() > 0) {
    return failure(ErrorClass::arg, "argument coords: null pointer; give %zu coordinates",
                   grid->ndims());
  }
  std::vector<int> inside;
  for (std::size_t i = 0; i < grid->ndims(); ++i) {
    const int size = grid->dim(i);
    if (!grid->periodic(i) && (coords[i] < 0 || coords[i] >= size)) {
      return failure(ErrorClass::arg,
                     "argument coords: coords[%zu] is %d; that dimension goes from 0 to %d and is "
                     "not periodic",
                     i, coords[i], size - 1);
    }
    inside.push_back((coords[i] % size + size) % size);
  }
  rank = grid->rank_at(inside);
  return {};
}

Error cart_coords(Comm& comm, int rank, int maxdims, std::span<int> coords) {
  const auto* grid = topology_of<CartTopology>(comm);
  if (grid == nullptr) return wrong_topology(comm, grid_wanted);
  if (coords.size() < grid->ndims()) return too_few(maxdims, grid->ndims());
  grid->coords_of(rank, coords);
  return {};
}

Error cart_shift(Comm& comm, int direction, int displacement, int& source, int& dest) {
  const auto* grid = topology_of<CartTopology>(comm);
  if (grid == nullptr) return wrong_topology(comm, grid_wanted);
  if (direction < 0 || static_cast<std::size_t>(direction) >= grid->ndims()) {
    return failure(ErrorClass::dims,
                   "argument direction: %d; the grid has %zu dimensions, counted from 0", direction,
                   grid->ndims());
  }
  const auto dim = static_cast<std::size_t>(direction);
  source = grid->shifted(comm.rank, dim, -static_cast<long>(displacement));
  dest = grid->shifted(comm.rank, dim, displacement);
  return {};
}

}  // namespace fulmar::mpi
