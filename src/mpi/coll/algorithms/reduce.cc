// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/reduction.h"
#include "mpi/coll/shm/shm_reductions.h"
#include "mpi/coll/shm/shm_start.h"

/// On a collective area (shm_reductions.cc), directly
/// (reduce_direct.cc), or a binomial tree: each
/// rank combines its value with those of its children, which stand for the
/// ranks that follow it, so operands stay in the order of the ranks. For operations that do not
/// commute the tree is counted from rank 0, which then hands the result to the root; others count
/// from the root. log2(n) steps, every count and type.
namespace fulmar::mpi {

using base::Error;

CollTask reduce_binomial(CollContext& exchange, const Reduce& call) {
  if (call.count == 0) co_return;
  const Reduction reduction{*call.op, *call.type, call.count};
  Accumulator sum(reduction, is_in_place(call.send) ? call.receive : call.send);
  if (sum.failed()) {
    exchange.note(sum.error());
    co_return;
  }
  const int n = exchange.size();
  const int top = call.op->commutative ? call.root : 0;
  const int place = (exchange.rank() - top + n) % n;
  int distance = 1;
  for (; distance < n && (place & distance) == 0; distance *= 2) {
    if (place + distance >= n) continue;
    co_await exchange.receive(reduction.at(sum.operand()), (place + distance + top) % n);
    sum.take_right();
  }
  const bool at_root = exchange.rank() == call.root;
  if (place != 0) {
    co_await exchange.send(reduction.at(sum.value()), (place - distance + top) % n);
    if (at_root) co_await exchange.receive(reduction.at(call.receive), top);
  } else if (!at_root) {
    co_await exchange.send(reduction.at(sum.value()), call.root);
  } else if (sum.value() != call.receive) {
    reduction.copy(sum.value(), call.receive);
  }
}

Error Reduce::check(const Comm& comm) const {
  if (const Error bad = check_reduction(*op, *type, count); bad.failed()) return bad;
  return comm.rank == root ? check_operands(send, receive, count, *type)
                           : check_buffer("sendbuf", send, count, *type);
}

CollTask Reduce::algorithm(CollContext& exchange) const {
  const CallShape shape{.bytes = count * type->size, .commutative = op->commutative};
  switch (exchange.choose(Family::reduce, shape)) {
    case Way::levels:
      return reduce_levels(exchange, *this);
    case Way::direct:
      return reduce_direct(exchange, *this);
    case Way::chain:
      return reduce_chain(exchange, *this);
    default:
      return reduce_binomial(exchange, *this);
  }
}

Error reduce(const void* send, void* receive, Count count, const Datatype* type, const Op* op,
             int root, Comm& comm) {
  const int tag = next_tag(comm);
  Reduce call{send, receive, count, type, op, root};
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  device::ShmCollArea* coll_area = idle_area(comm, area_for<ReduceRounds>(comm, call));
  if (coll_area != nullptr) {
    return reads_memory(comm, Family::reduce, count * type->size)
               ? reduce_read(*coll_area, call, comm)
               : reduce_on(*coll_area, call, comm);
  }
  if (count == 0) return {};
  return run_call(comm, tag, call);
}

Error ireduce(const void* send, void* receive, Count count, const Datatype* type, const Op* op,
              int root, Comm& comm, MPI_Request& request) {
  return start_on_area<ReduceRounds>(comm, next_tag(comm),
                                     Reduce{send, receive, count, type, op, root}, request);
}

Error reduce_init(const void* send, void* receive, Count count, const Datatype* type, const Op* op,
                  int root, Comm& comm, Info* /*info*/, MPI_Request& request) {
  return keep_on_area<ReduceRounds>(comm, next_persistent_tag(comm),
                                    Reduce{send, receive, count, type, op, root}, request);
}

}  // namespace fulmar::mpi
