// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/block_cyclic.h"
#include "mpi/comm/comm.h"

namespace fulmar::mpi {

/// The ranks of an intracommunicator by node: the same in all of them, but for `own`.
class NodeMap {
 public:
  explicit NodeMap(const Comm& comm);

  /// Several nodes, of which some have several ranks.
  [[nodiscard]] bool shared_nodes() const noexcept {
    return leaders_.size() > 1 && leaders_.size() < node_of_rank_.size();
  }
  /// The lowest rank of each node, ascending.
  [[nodiscard]] std::span<const int> leaders() const noexcept { return leaders_; }
  /// The place of a rank's node in `leaders`.
  [[nodiscard]] int node_of(int rank) const noexcept {
    return static_cast<int>(node_of_rank_[static_cast<std::size_t>(rank)]);
  }
  /// The ranks on this process's node, ascending, and its place among them.
  [[nodiscard]] std::span<const int> own() const noexcept { return own_; }
  [[nodiscard]] int place() const noexcept { return place_; }

 private:
  void fill(const base::BlockCyclic& nodes, const Comm& comm);
  void fill(const Comm& comm);

  base::BlockCyclic node_of_rank_;
  std::vector<int> leaders_;
  std::vector<int> own_;
  int place_ = 0;
};

/// Of a communicator; made when first asked for.
[[nodiscard]] const NodeMap& node_map(Comm& comm);

}  // namespace fulmar::mpi
