// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "runtime/bootstrap/bootstrap.h"
#include "wire/node/node_join.h"

namespace fulmar::runtime::bootstrap {

/// Which ranks share memory, agreed on by the whole job.
struct Node {
  wire::JobInfo job;
  std::vector<std::uint32_t> members;  ///< ascending ranks of this node, the own one among them
  base::UniqueFd segment;  ///< formatted, see wire/node/job.h; its records are the members
  /// For each rank of the job the number of its node, in the order of the nodes' lowest ranks.
  std::vector<std::uint32_t> node_of;
  std::uint32_t node_count = 1;
};

/// Finds the ranks of this node and maps a segment together with them, see wire/node/node_join.h.
/// Collective over the job; takes two fences, three where there are several nodes. No
/// thread, socket or name remains. Fails (other, no_mem) with a text.
base::Result<Node> form_node(Bootstrap& bootstrap);

}  // namespace fulmar::runtime::bootstrap
