// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/node_map.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/comm/jobs.h"
#include "mpi/comm/world.h"

namespace fulmar::mpi {

NodeMap::NodeMap(const Comm& comm) {
  const base::BlockCyclic* const nodes = comm.library->world->placement.nodes;
  if (nodes != nullptr && comm.identity) {
    fill(*nodes, comm);
  } else {
    fill(comm);
  }
}

/// Without a walk over all ranks.
void NodeMap::fill(const base::BlockCyclic& nodes, const Comm& comm) {
  const auto size = static_cast<std::size_t>(comm.size());
  const std::size_t block = nodes.block();
  const std::size_t turn = nodes.turn();
  const auto self = static_cast<std::size_t>(comm.rank);
  node_of_rank_ = base::BlockCyclic(size, block, turn);
  for (std::size_t first = 0; first < std::min(size, block * turn); first += block) {
    leaders_.push_back(static_cast<int>(first));
  }
  for (std::size_t first = nodes[self] * block; first < size; first += block * turn) {
    for (std::size_t rank = first; rank < std::min(first + block, size); ++rank) {
      if (rank == self) place_ = static_cast<int>(own_.size());
      own_.push_back(static_cast<int>(rank));
    }
  }
}

void NodeMap::fill(const Comm& comm) {
  const ProcessPlacement& placement = comm.library->world->placement;
  std::unordered_map<std::uint32_t, std::uint32_t> places;
  const bool apart = spans_jobs(comm);  // jobs share no memory
  std::vector<std::uint32_t> node_of_rank;
  node_of_rank.reserve(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::uint32_t node =
        apart ? static_cast<std::uint32_t>(rank) : placement.node_of(comm.routes[rank].peer);
    const auto [at, fresh] = places.try_emplace(node, static_cast<std::uint32_t>(leaders_.size()));
    if (fresh) leaders_.push_back(rank);
    node_of_rank.push_back(at->second);
  }
  node_of_rank_ = base::BlockCyclic(std::move(node_of_rank));
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (node_of(rank) != node_of(comm.rank)) continue;
    if (rank == comm.rank) place_ = static_cast<int>(own_.size());
    own_.push_back(rank);
  }
}

const NodeMap& node_map(Comm& comm) {
  if (comm.nodes == nullptr) comm.nodes = std::make_shared<const NodeMap>(comm);
  return *comm.nodes;
}

}  // namespace fulmar::mpi
