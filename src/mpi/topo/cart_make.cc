// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/topo/calls.h"
#include "mpi/topo/making.h"
#include "mpi/topo/reorder.h"

/// Grids, and grids cut out of grids.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// The number of processes of a grid that fits `comm`; 0 where a dimension is 0, whatever the
/// others are.
base::Result<int> grid_size(const Comm& comm, std::span<const int> dims) {
  if (const Error bad = require_intra(comm); bad.failed()) return bad;
  bool is_empty = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    is_empty |= dims[i] == 0;
    if (dims[i] >= 0) continue;
    return failure(ErrorClass::dims,
                   "argument dims: dims[%zu] is %d, negative; MPI_Dims_create chooses dimensions",
                   i, dims[i]);
  }
  if (is_empty) return 0;
  long ranks = 1;
  for (const int dim : dims) {
    ranks *= dim;
    if (ranks <= comm.size()) continue;
    return failure(ErrorClass::dims,
                   "argument dims: the grid needs %ld processes or more, the communicator has %d; "
                   "MPI_Dims_create chooses dimensions that fit",
                   ranks, comm.size());
  }
  return static_cast<int>(ranks);
}

/// Which rank of `comm` each place of the grid gets.
std::vector<int> order_for(const Comm& comm, int ranks, const CartTopology& grid) {
  if (ranks == 0) return {};
  const std::vector<Place> places = places_of(comm);
  return places.empty() ? first_ranks(ranks) : best_order(places, links_of(grid));
}

std::vector<int> truth_of(std::span<const int> flags) {
  std::vector<int> values;
  for (const int flag : flags) values.push_back(flag != 0 ? 1 : 0);
  return values;
}

}  // namespace

Error cart_create(Library& library, Comm& comm, int /*ndims*/, std::span<const int> dims,
                  std::span<const int> periods, int reorder, MPI_Comm& out) {
  out = MPI_COMM_NULL;
  const base::Result<int> ranks = grid_size(comm, dims);
  if (comm.is_inter) return ranks.error();
  Making making(library, comm);
  std::vector<int> order;
  if (ranks.ok()) {
    order = reorder != 0 ? order_for(comm, ranks.value(), CartTopology(dims, periods))
                         : first_ranks(ranks.value());
  }
  const std::uint64_t digest = digest_of(truth_of(periods), digest_of(dims));
  const std::uint64_t word = word_of_halves(digest, digest_of(order));
  if (const Error bad = making.announce(ranks.error(), word); bad.failed()) return bad;
  if (const Error bad = making.check_same("dims or periods"); bad.failed()) return bad;
  return making.finish(
      making.agreed(std::move(order)),
      [&](int rank) { return Topology(CartTopology(dims, periods), rank); }, out);
}

Error cart_map(Comm& comm, int /*ndims*/, std::span<const int> dims, std::span<const int> periods,
               int& rank) {
  const base::Result<int> ranks = grid_size(comm, dims);
  if (ranks.failed()) return ranks.error();
  rank = place_in(order_for(comm, ranks.value(), CartTopology(dims, periods)), comm.rank);
  return {};
}

Error cart_sub(Library& library, Comm& comm, const int* remain_dims, MPI_Comm& out) {
  out = MPI_COMM_NULL;
  const auto* grid = topology_of<CartTopology>(comm);
  if (grid == nullptr) return wrong_topology(comm, "a Cartesian topology (MPI_Cart_create)");
  const std::size_t ndims = grid->ndims();
  Error so_far;
  if (remain_dims == nullptr && ndims > 0) {
    so_far = failure(ErrorClass::arg, "argument remain_dims: null pointer; give %zu flags", ndims);
  }
  std::vector<int> keep;
  if (so_far.ok()) keep = truth_of({remain_dims, ndims});
  Making making(library, comm);
  if (const Error bad = making.announce(so_far, word_of_halves(digest_of(keep), 0)); bad.failed())
    return bad;
  if (const Error bad = making.check_same("remain_dims"); bad.failed()) return bad;
  std::vector<int> own(ndims);
  std::vector<int> other(ndims);
  grid->coords_of(comm.rank, own);
  std::vector<int> ranks;
  for (int rank = 0; rank < comm.size(); ++rank) {
    grid->coords_of(rank, other);
    bool together = true;
    for (std::size_t i = 0; i < ndims; ++i) together &= keep[i] != 0 || own[i] == other[i];
    if (together) ranks.push_back(rank);
  }
  std::vector<int> dims;
  std::vector<int> periods;
  for (std::size_t i = 0; i < ndims; ++i) {
    if (keep[i] == 0) continue;
    dims.push_back(grid->dim(i));
    periods.push_back(grid->periodic(i) ? 1 : 0);
  }
  return making.finish(
      ranks, [&](int rank) { return Topology(CartTopology(dims, periods), rank); }, out);
}

}  // namespace fulmar::mpi
