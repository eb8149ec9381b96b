// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/algorithms/parts.h"

/// Reductions of long data, divided among the ranks: each combines one part of all operands
/// (combine_parts.cc), then the results are put together. Two rounds; every byte is combined once
/// where recursive doubling combines it log2(n) times in each rank. Every operation, count and
/// type; many messages (n - 1 in each round and rank), so for long data and not too many ranks.
namespace fulmar::mpi {

CollTask allreduce_direct(CollContext& exchange, const Allreduce& call) {
  const Data& receive = call.receive;
  const Parts parts(receive.count, exchange.size());
  const Blocks own = parts.of(call.own(), *receive.type);
  const Blocks result = parts.of(receive.address, *receive.type);
  co_await combine_parts(exchange, own, *call.op, result[exchange.rank()].address);
  co_await spread_parts(exchange, result);
}

CollTask reduce_direct(CollContext& exchange, const Reduce& call) {
  const int self = exchange.rank();
  const Parts parts(call.count, exchange.size());
  const Blocks own = parts.of(is_in_place(call.send) ? call.receive : call.send, *call.type);
  if (self == call.root) {
    const Blocks result = parts.of(call.receive, *call.type);
    co_await combine_parts(exchange, own, *call.op, result[self].address);
    Transfers transfers(exchange, exchange.size());
    for (int rank = 0; rank < exchange.size(); ++rank) {
      if (rank == self || parts.count(rank) == 0) continue;
      if (transfers.full()) co_await transfers.wait();
      transfers.receive(result[rank], rank);
    }
    co_await transfers.wait();
    co_return;
  }
  const Count count = parts.count(self);
  const Scratch part(*call.type, count);
  if (part.failed()) {
    exchange.note(part.error());
    co_return;
  }
  co_await combine_parts(exchange, own, *call.op, part.address());
  if (count > 0) co_await exchange.send({part.address(), count, call.type}, call.root);
}

CollTask reduce_scatter_direct(CollContext& exchange, const ReduceScatter& call) {
  const Parts parts(exchange.size(), [&](int rank) { return call.count_of(rank); });
  const Blocks own = parts.of(call.own(), *call.type);
  co_await combine_parts(exchange, own, *call.op, call.receive);
}

}  // namespace fulmar::mpi
