// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/operations.h"

/// The algorithms that have a file of their own, or are parts of others. Each file says what its
/// algorithm costs and what it cannot do. Arguments by reference must live until the end.
namespace fulmar::mpi {

CollTask barrier_levels(CollContext& exchange);
CollTask bcast_levels(CollContext& exchange, Data data, int root);
CollTask reduce_levels(CollContext& exchange, const Reduce& call);
CollTask allreduce_levels(CollContext& exchange, const Allreduce& call);
CollTask bcast_chain(CollContext& exchange, Data data, int root);
CollTask bcast_spread(CollContext& exchange, Data data, int root);
CollTask gather_binomial(CollContext& exchange, const Gather& call);
CollTask scatter_binomial(CollContext& exchange, const Scatter& call);
CollTask scatter_direct(CollContext& exchange, const Scatter& call);
CollTask allgather_bruck(CollContext& exchange, const Allgather& call);
CollTask alltoall_bruck(CollContext& exchange, const Alltoall& call);
CollTask reduce_binomial(CollContext& exchange, const Reduce& call);
CollTask reduce_chain(CollContext& exchange, const Reduce& call);
CollTask reduce_direct(CollContext& exchange, const Reduce& call);
CollTask allreduce_direct(CollContext& exchange, const Allreduce& call);
CollTask allreduce_ring(CollContext& exchange, const Allreduce& call);
CollTask allreduce_halving(CollContext& exchange, const Allreduce& call);
CollTask allreduce_segments(CollContext& exchange, const Allreduce& call);
CollTask reduce_scatter_halving(CollContext& exchange, const ReduceScatter& call);
CollTask reduce_scatter_direct(CollContext& exchange, const ReduceScatter& call);

/// `result` becomes the combination of block `rank()` of all ranks.
CollTask combine_parts(CollContext& exchange, const Blocks& own, const Op& op, void* result);
/// Every rank gets all blocks; its own is in its place already.
CollTask spread_parts(CollContext& exchange, const Blocks& blocks);

}  // namespace fulmar::mpi
