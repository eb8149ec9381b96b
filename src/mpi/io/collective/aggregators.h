// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "base/error.h"
#include "io/hints.h"
#include "mpi/comm/comm.h"

namespace fulmar::mpi {

/// Collective, of hints that are the same in all ranks: the ranks that are aggregators of collective
/// accesses (mpi/io/collective/two_phase.h), the same list in all. Without cb_config_list the first rank of each
/// node, and ranks spread evenly where cb_nodes asks for more.
[[nodiscard]] base::Result<std::vector<int>> choose_aggregators(Comm& comm, const io::Hints& hints);

}  // namespace fulmar::mpi
