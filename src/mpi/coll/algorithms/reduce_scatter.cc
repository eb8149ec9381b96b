// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/reduction.h"
#include "mpi/coll/shm/shm_reductions.h"
#include "mpi/coll/shm/shm_start.h"

/// On a collective area (shm_reductions.cc), directly (reduce_direct.cc), or by a reduction to rank
/// 0, which then deals out the blocks. Every operation, count and type; twice the steps of either
/// part.
namespace fulmar::mpi {

using base::Error;

namespace {

CollTask reduce_and_deal(CollContext& exchange, const ReduceScatter& call) {
  std::vector<Count> counts;
  std::vector<Count> displs;
  Count total = 0;
  for (int rank = 0; rank < exchange.size(); ++rank) {
    displs.push_back(total);
    counts.push_back(call.count_of(rank));
    total += counts.back();
  }
  const Scratch whole(*call.type, exchange.rank() == 0 ? total : 0);
  if (whole.failed()) exchange.note(whole.error());
  const Reduce reduce{call.own(), whole.address(), total, call.type, call.op, 0};
  co_await reduce_binomial(exchange, reduce);
  const Scatter scatter{Blocks::various(whole.address(), {counts.data(), counts.size()},
                                        {displs.data(), displs.size()}, call.type),
                        {call.receive, call.count_of(exchange.rank()), call.type},
                        0};
  co_await scatter_direct(exchange, scatter);
}

}  // namespace

Error ReduceScatterBlock::check(const Comm& /*comm*/) const {
  if (const Error bad = check_reduction(*op, *type, count); bad.failed()) return bad;
  return check_operands(send, receive, count, *type);
}

Error ReduceScatter::check(const Comm& comm) const {
  if (const Error bad = check_counts("recvcounts", counts, comm.size()); bad.failed()) return bad;
  if (const Error bad = check_reduction(*op, *type); bad.failed()) return bad;
  const Error bad = check_operands(send, receive, count_of(comm.rank), *type);
  if (bad.failed()) return bad;
  // A rank that gets nothing has an operand all the same.
  Count total = 0;
  for (int rank = 0; rank < comm.size(); ++rank) total += count_of(rank);
  return check_buffer(is_in_place(send) ? "recvbuf" : "sendbuf", own(), total, *type);
}

CollTask ReduceScatter::algorithm(CollContext& exchange) const {
  CallShape shape{.commutative = op->commutative, .equal_blocks = counts.is_null()};
  shape.bytes = all_bytes(exchange.size());
  switch (exchange.choose(Family::reduce_scatter, shape)) {
    case Way::halving:
      return reduce_scatter_halving(exchange, *this);
    case Way::deal:
      return reduce_and_deal(exchange, *this);
    default:
      return reduce_scatter_direct(exchange, *this);
  }
}

namespace {

ReduceScatterBlock block_call(const void* send, const Data& receive, const Op& op) {
  return {{send, receive.address, receive.count, {}, receive.type, &op}};
}

}  // namespace

Error reduce_scatter(const void* send, void* receive, CountArray counts, const Datatype& type,
                     const Op& op, Comm& comm) {
  const int tag = next_tag(comm);
  ReduceScatter call{send, receive, 0, counts, &type, &op};
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  if (device::ShmCollArea* coll_area = idle_area(comm, area_for<ReduceScatterRounds>(comm, call));
      coll_area != nullptr) {
    return reads_memory(comm, Family::reduce_scatter, call.all_bytes(comm.size()))
               ? reduce_scatter_read(*coll_area, call, comm)
               : reduce_scatter_on(*coll_area, call, comm);
  }
  return run_call(comm, tag, call);
}

Error ireduce_scatter(const void* send, void* receive, CountArray counts, const Datatype& type,
                      const Op& op, Comm& comm, MPI_Request& request) {
  return start_on_area<ReduceScatterRounds>(
      comm, next_tag(comm), ReduceScatter{send, receive, 0, counts, &type, &op}, request);
}

Error reduce_scatter_init(const void* send, void* receive, CountArray counts, const Datatype& type,
                          const Op& op, Comm& comm, Info* /*info*/, MPI_Request& request) {
  return keep_on_area<ReduceScatterRounds>(comm, next_persistent_tag(comm),
                                           ReduceScatter{send, receive, 0, counts, &type, &op},
                                           request);
}

Error reduce_scatter_block(const void* send, const Data& receive, const Op& op, Comm& comm) {
  const int tag = next_tag(comm);
  ReduceScatterBlock call = block_call(send, receive, op);
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  if (device::ShmCollArea* coll_area = idle_area(comm, area_for<ReduceScatterRounds>(comm, call));
      coll_area != nullptr) {
    return reads_memory(comm, Family::reduce_scatter, call.all_bytes(comm.size()))
               ? reduce_scatter_read(*coll_area, call, comm)
               : reduce_scatter_on(*coll_area, call, comm);
  }
  return run_call(comm, tag, call);
}

Error ireduce_scatter_block(const void* send, const Data& receive, const Op& op, Comm& comm,
                            MPI_Request& request) {
  return start_on_area<ReduceScatterRounds>(comm, next_tag(comm), block_call(send, receive, op),
                                            request);
}

Error reduce_scatter_block_init(const void* send, const Data& receive, const Op& op, Comm& comm,
                                Info* /*info*/, MPI_Request& request) {
  return keep_on_area<ReduceScatterRounds>(comm, next_persistent_tag(comm),
                                           block_call(send, receive, op), request);
}

}  // namespace fulmar::mpi
