// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/operations.h"

/// The algorithms that have a file of their own, or are parts of others. Each file says what its
/// algorithm costs and what it cannot do. Arguments by reference must live until the end.
namespace fulmar::mpi {

Algorithm barrier_levels(Exchange& exchange);
Algorithm bcast_levels(Exchange& exchange, Data data, int root);
Algorithm reduce_levels(Exchange& exchange, const Reduce& call);
Algorithm allreduce_levels(Exchange& exchange, const Allreduce& call);
Algorithm bcast_chain(Exchange& exchange, Data data, int root);
Algorithm bcast_spread(Exchange& exchange, Data data, int root);
Algorithm gather_binomial(Exchange& exchange, const Gather& call);
Algorithm scatter_binomial(Exchange& exchange, const Scatter& call);
Algorithm scatter_direct(Exchange& exchange, const Scatter& call);
Algorithm allgather_bruck(Exchange& exchange, const Allgather& call);
Algorithm alltoall_bruck(Exchange& exchange, const Alltoall& call);
Algorithm reduce_binomial(Exchange& exchange, const Reduce& call);
Algorithm reduce_chain(Exchange& exchange, const Reduce& call);
Algorithm reduce_direct(Exchange& exchange, const Reduce& call);
Algorithm allreduce_direct(Exchange& exchange, const Allreduce& call);
Algorithm allreduce_ring(Exchange& exchange, const Allreduce& call);
Algorithm allreduce_halving(Exchange& exchange, const Allreduce& call);
Algorithm allreduce_segments(Exchange& exchange, const Allreduce& call);
Algorithm reduce_scatter_halving(Exchange& exchange, const ReduceScatter& call);
Algorithm reduce_scatter_direct(Exchange& exchange, const ReduceScatter& call);

/// `result` becomes the combination of block `rank()` of all ranks.
Algorithm combine_parts(Exchange& exchange, const Blocks& own, const Op& op, void* result);
/// Every rank gets all blocks; its own is in its place already.
Algorithm spread_parts(Exchange& exchange, const Blocks& blocks);

}  // namespace fulmar::mpi
