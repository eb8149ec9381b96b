// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/operations.h"
#include "mpi/coll/reduction.h"

/// Reductions between the groups of an intercommunicator (MPI 5.0 section 6.2.3): each group
/// reduces its operands to its rank 0, in the order of its ranks, so that operations need not
/// commute; what comes out of it goes to the other group in one message and is dealt out there. A
/// group of one process has nothing to reduce or to deal out: its operand goes to the other group,
/// and what it gets is its result.
namespace fulmar::mpi {

namespace {

CollTask reduce_between(CollContext& exchange, const Reduce& call) {
  if (call.root == MPI_PROC_NULL || call.count == 0) co_return;
  const Reduction reduction{*call.op, *call.type, call.count};
  if (call.root == MPI_ROOT) {
    co_await exchange.receive(reduction.at(call.receive), 0);
    co_return;
  }
  if (exchange.size() == 1) {
    co_await exchange.send(reduction.at(call.send), call.root);
    co_return;
  }
  const bool leads = exchange.rank() == 0;
  const Scratch sum(*call.type, leads ? call.count : 0);
  if (sum.failed()) {
    exchange.note(sum.error());
    co_return;
  }
  CollContext inside(*exchange.comm().local_comm, exchange.tag());
  const Reduce here{call.send, sum.address(), call.count, call.type, call.op, 0};
  co_await here.algorithm(inside);
  exchange.note(inside.result());
  const void* result = sum.address();
  if (leads) co_await exchange.send(reduction.at(result), call.root);
}

CollTask allreduce_between(CollContext& exchange, const Allreduce& call) {
  const Count count = call.receive.count;
  if (count == 0) co_return;
  const Reduction reduction{*call.op, *call.receive.type, count};
  if (exchange.size() == 1) {
    co_await exchange.send_receive(reduction.at(call.send), 0, call.receive, 0);
    co_return;
  }
  const bool leads = exchange.rank() == 0;
  const Scratch sum(*call.receive.type, leads ? count : 0);
  if (sum.failed()) {
    exchange.note(sum.error());
    co_return;
  }
  CollContext inside(*exchange.comm().local_comm, exchange.tag());
  const Reduce here{call.send, sum.address(), count, call.receive.type, call.op, 0};
  co_await here.algorithm(inside);
  const void* result = sum.address();
  if (leads) co_await exchange.send_receive(reduction.at(result), 0, call.receive, 0);
  const Bcast hand_on{call.receive, 0};
  co_await hand_on.algorithm(inside);
  exchange.note(inside.result());
}

/// What the own group gets of the other's sum.
struct Shares {
  std::vector<Count> counts;
  std::vector<Count> displs;
  Count total = 0;

  Shares(const ReduceScatter& call, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      displs.push_back(total);
      counts.push_back(call.count_of(rank));
      total += counts.back();
    }
  }
};

CollTask reduce_scatter_between(CollContext& exchange, const ReduceScatter& call) {
  if (exchange.size() == 1) {
    const Reduction whole{*call.op, *call.type, call.count_of(0)};
    if (whole.count == 0) co_return;
    co_await exchange.send_receive(whole.at(call.send), 0, whole.at(call.receive), 0);
    co_return;
  }
  const Shares shares(call, exchange.size());
  if (shares.total == 0) co_return;
  const Reduction reduction{*call.op, *call.type, shares.total};
  const bool leads = exchange.rank() == 0;
  const Scratch ours(*call.type, leads ? shares.total : 0);
  const Scratch theirs(*call.type, leads ? shares.total : 0);
  if (ours.failed() || theirs.failed()) {
    exchange.note(ours.failed() ? ours.error() : theirs.error());
    co_return;
  }
  CollContext inside(*exchange.comm().local_comm, exchange.tag());
  const Reduce here{call.send, ours.address(), shares.total, call.type, call.op, 0};
  co_await here.algorithm(inside);
  const void* result = ours.address();
  void* received = theirs.address();
  if (leads) co_await exchange.send_receive(reduction.at(result), 0, reduction.at(received), 0);
  const Scatter deal{Blocks::various(received, {shares.counts.data(), shares.counts.size()},
                                     {shares.displs.data(), shares.displs.size()}, call.type),
                     {call.receive, call.count_of(exchange.rank()), call.type},
                     0};
  co_await scatter_direct(inside, deal);  // the blocks may differ
  exchange.note(inside.result());
}

}  // namespace

CollTask Reduce::inter_algorithm(CollContext& exchange) const {
  return reduce_between(exchange, *this);
}

CollTask Allreduce::inter_algorithm(CollContext& exchange) const {
  return allreduce_between(exchange, *this);
}

CollTask ReduceScatter::inter_algorithm(CollContext& exchange) const {
  return reduce_scatter_between(exchange, *this);
}

}  // namespace fulmar::mpi
