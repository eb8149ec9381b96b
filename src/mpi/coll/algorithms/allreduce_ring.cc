// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/algorithms/parts.h"
#include "mpi/coll/reduction.h"

/// The elements are divided into n parts. Each part travels once round the ring of the ranks, which
/// add their operands, and once more as the result: 2(n - 1) steps, every byte moves twice over
/// each neighbour, all ranks work all the time. The order of operands is that of the ring, so the
/// operation must commute. Memory for one part, and only in place.
namespace fulmar::mpi {
namespace {

/// After this, rank r has the result of part r + 1.
CollTask add_round(CollContext& exchange, const Blocks& own, const Blocks& result, const Op& op) {
  const int next = exchange.neighbour(1);
  const int previous = exchange.neighbour(-1);
  const bool in_place = own.address == result.address;
  const Datatype& type = *result.type;
  const Scratch incoming(type, in_place ? result[0].count : 0);
  if (incoming.failed()) {
    exchange.note(incoming.error());
    co_return;
  }
  for (int step = 1; step < exchange.size(); ++step) {
    const int leaving = exchange.neighbour(1 - step);
    const int coming = exchange.neighbour(-step);
    const Data sum = result[coming];
    const ConstData out = step == 1 ? own.to(leaving) : result.to(leaving);
    const Data in{in_place ? incoming.address() : sum.address, sum.count, &type};
    co_await exchange.send_receive(out, next, in, previous);
    const Reduction reduction{op, type, sum.count};
    reduction.apply(in_place ? incoming.address() : own[coming].address, sum.address);
  }
}

}  // namespace

CollTask allreduce_ring(CollContext& exchange, const Allreduce& call) {
  const Data& receive = call.receive;
  const Parts parts(receive.count, exchange.size());
  const Blocks own = parts.of(call.own(), *receive.type);
  const Blocks result = parts.of(receive.address, *receive.type);
  if (exchange.size() == 1) {
    exchange.note(copy_data({call.own(), receive.count, receive.type}, receive));
    co_return;
  }
  co_await add_round(exchange, own, result, *call.op);
  const int next = exchange.neighbour(1);
  const int previous = exchange.neighbour(-1);
  for (int step = 1; step < exchange.size(); ++step) {
    const ConstData out = result.to(exchange.neighbour(2 - step));
    const Data in = result[exchange.neighbour(1 - step)];
    co_await exchange.send_receive(out, next, in, previous);
  }
}

}  // namespace fulmar::mpi
