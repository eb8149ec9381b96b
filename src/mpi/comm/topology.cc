// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/topology.h"

#include <algorithm>
#include <cstdint>

namespace fulmar::mpi {

CartTopology::CartTopology(std::span<const int> dims, std::span<const int> periods)
    : dims_(dims.begin(), dims.end()) {
  for (const int period : periods) periods_.push_back(period != 0 ? 1 : 0);
}

int CartTopology::stride(std::size_t dim) const noexcept {
  int ranks = 1;
  for (std::size_t i = dim + 1; i < dims_.size(); ++i) ranks *= dims_[i];
  return ranks;
}

void CartTopology::coords_of(int rank, std::span<int> coords) const noexcept {
  for (std::size_t i = dims_.size(); i-- > 0;) {
    coords[i] = rank % dims_[i];
    rank /= dims_[i];
  }
}

int CartTopology::rank_at(std::span<const int> coords) const noexcept {
  int rank = 0;
  for (std::size_t i = 0; i < dims_.size(); ++i) rank = rank * dims_[i] + coords[i];
  return rank;
}

int CartTopology::shifted(int rank, std::size_t dim, long distance) const noexcept {
  const int step = stride(dim);
  const int size = dims_[dim];
  const int at = rank / step % size;
  long to = at + distance;
  if (to < 0 || to >= size) {
    if (!periodic(dim)) return MPI_PROC_NULL;
    to = (to % size + size) % size;
  }
  return rank + (static_cast<int>(to) - at) * step;
}

std::span<const int> GraphTopology::neighbours(int node) const noexcept {
  const auto i = static_cast<std::size_t>(node);
  const auto first = static_cast<std::size_t>(i == 0 ? 0 : index[i - 1]);
  return std::span(edges).subspan(first, static_cast<std::size_t>(index[i]) - first);
}

bool GraphTopology::is_symmetric() const {
  std::vector<std::pair<int, int>> forth;
  std::vector<std::pair<int, int>> back;
  for (int node = 0; node < static_cast<int>(index.size()); ++node) {
    for (const int other : neighbours(node)) {
      forth.emplace_back(node, other);
      back.emplace_back(other, node);
    }
  }
  std::sort(forth.begin(), forth.end());
  std::sort(back.begin(), back.end());
  return forth == back;
}

Topology::Topology(CartTopology grid, int rank) : shape(std::move(grid)) {
  const CartTopology& cart = *std::get_if<CartTopology>(&shape);
  for (std::size_t dim = 0; dim < cart.ndims(); ++dim) {
    sources.push_back(cart.shifted(rank, dim, -1));
    sources.push_back(cart.shifted(rank, dim, 1));
  }
  destinations = sources;
}

Topology::Topology(GraphTopology graph, int rank) : shape(std::move(graph)) {
  auto& whole = *std::get_if<GraphTopology>(&shape);
  whole.symmetric = whole.is_symmetric();
  const auto mine = whole.neighbours(rank);
  sources.assign(mine.begin(), mine.end());
  destinations = sources;
}

}  // namespace fulmar::mpi
