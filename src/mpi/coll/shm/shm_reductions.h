// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/algorithms/parts.h"
#include "mpi/coll/operations.h"
#include "mpi/coll/shm/shm_coll.h"

/// Reductions on a collective area; see mpi/coll/shm/shm_coll.h. An element must fit into a payload. Errors: no memory
/// for a copy of operands that cannot be combined where they are; the call is over for the other
/// ranks all the same.
namespace fulmar::mpi {

base::Error allreduce_on(device::ShmCollArea& coll_area, const Allreduce& call, const Comm& comm);
/// The same between two ranks that have a core each (shm_pairs.cc). Payloads of each rank are cut
/// like `halves`.
base::Error allreduce_halves(device::ShmCollArea& coll_area, const Allreduce& call,
                             const Pieces& halves, const Comm& comm);
base::Error reduce_on(device::ShmCollArea& coll_area, const Reduce& call, const Comm& comm);
base::Error reduce_scatter_on(device::ShmCollArea& coll_area, const ReduceScatter& call,
                              const Comm& comm);
/// The operands of ranks 0 to `end` - 1.
base::Error scan_on(device::ShmCollArea& coll_area, const Allreduce& call, int end,
                    const Comm& comm);

}  // namespace fulmar::mpi
