// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "mpi/rma/node/node_memory.h"
#include "mpi/rma/node/node_plan.h"
#include "mpi/rma/win.h"

/// How the ranks of a node come to map one memory file for a window: that with their control lines
/// and, where the library gives the memory, the memory of all.
namespace fulmar::mpi {

/// The first rank of the node makes the file and sends its descriptor to the others.
class NodeMapping {
 public:
  NodeMapping(Win& win, std::span<const int> ranks) noexcept : win_(win), ranks_(ranks) {}

  /// Before the facts are exchanged.
  base::Error prepare(WinFacts& own);
  /// After that, in all ranks of the window.
  base::Error map(const std::vector<WinFacts>& facts, const NodePlan& plan);

 private:
  [[nodiscard]] bool alone() const noexcept { return ranks_.size() == 1; }
  [[nodiscard]] bool leads() const noexcept { return ranks_.front() == win_.rank(); }
  base::Error hand_out(const std::vector<WinFacts>& facts, const NodePlan& plan);

  Win& win_;
  std::span<const int> ranks_;
  base::Result<DescriptorSocket> socket_ = base::Error{};
  base::UniqueFd file_;
};

/// Whether this process can wake a rank of the window, and be woken by it: it is on this node.
[[nodiscard]] bool is_reached(const Win& win, int rank);

/// The control lines of the window's ranks on this node, which `win.memory` has. Where the ranks
/// cannot wake each other each has its own only, and does what concerns its lock for the others.
void use_node_controls(Win& win, std::span<const int> ranks);
/// The memory of those whose control lines are used: loads and stores reach it.
void use_node_memory(Win& win, std::span<const int> ranks, const NodePlan& plan);

}  // namespace fulmar::mpi
