// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/board.h"
#include "mpi/coll/operations.h"
#include "mpi/coll/parts.h"

/// Reductions on a board; see mpi/coll/board.h. An element must fit into a text. Errors: no memory
/// for a copy of operands that cannot be combined where they are; the call is over for the other
/// ranks all the same.
namespace fulmar::mpi {

base::Error allreduce_on(device::NodeBoard& board, const Allreduce& call, const Comm& comm);
/// The same between two ranks that have a core each (board_halves.cc). Texts of each rank are cut
/// like `halves`.
base::Error allreduce_halves(device::NodeBoard& board, const Allreduce& call, const Pieces& halves);
base::Error reduce_on(device::NodeBoard& board, const Reduce& call, const Comm& comm);
base::Error reduce_scatter_on(device::NodeBoard& board, const ReduceScatter& call,
                              const Comm& comm);
/// The operands of ranks 0 to `end` - 1.
base::Error scan_on(device::NodeBoard& board, const Allreduce& call, int end, const Comm& comm);

}  // namespace fulmar::mpi
