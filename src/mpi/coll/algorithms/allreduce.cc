// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/algorithms/places.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/reduction.h"
#include "mpi/coll/shm/shm_reductions.h"
#include "mpi/coll/shm/shm_start.h"

/// On a collective area (shm_reductions.cc), directly (reduce_direct.cc), by a ring
/// (allreduce_ring.cc), or recursive doubling: in step k ranks that differ in bit k exchange what
/// they have, and both combine the two values in the order of the ranks; so all get the same bits,
/// and operations need not commute. Where the number of ranks is no power of two, pairs of the
/// first ranks work as one. log2(n) steps, every byte moves log2(n) times.
namespace fulmar::mpi {

using base::Error;

namespace {

CollTask double_up(CollContext& exchange, const Reduction& reduction, Accumulator& sum,
                   const Places& places) {
  const int place = places.place_of(exchange.rank());
  for (int distance = 1; distance < places.count; distance *= 2) {
    const int other = places.worker(place ^ distance);
    const ConstData out = reduction.at(sum.value());
    const Data in = reduction.at(sum.operand());
    co_await exchange.send_receive(out, other, in, other);
    if (other > exchange.rank()) {
      sum.take_right();
    } else {
      sum.take_left();
    }
  }
}

CollTask allreduce_doubling(CollContext& exchange, const Allreduce& call) {
  if (call.receive.count == 0) co_return;
  const Reduction reduction{*call.op, *call.receive.type, call.receive.count};
  const Places places(exchange.size());
  const int rank = exchange.rank();
  if (places.paired(rank) && rank % 2 == 1) {
    co_await exchange.send(reduction.at(call.own()), rank - 1);
    co_await exchange.receive(call.receive, rank - 1);
    co_return;
  }
  Accumulator sum(reduction, call.own());
  if (sum.failed()) {
    exchange.note(sum.error());
    co_return;
  }
  if (places.paired(rank)) {
    co_await exchange.receive(reduction.at(sum.operand()), rank + 1);
    sum.take_right();
  }
  co_await double_up(exchange, reduction, sum, places);
  if (sum.value() != call.receive.address) reduction.copy(sum.value(), call.receive.address);
  if (places.paired(rank)) co_await exchange.send(as_const(call.receive), rank + 1);
}

}  // namespace

Error Allreduce::check(const Comm& /*comm*/) const {
  if (const Error bad = check_reduction(*op, *receive.type, receive.count); bad.failed())
    return bad;
  return check_operands(send, receive.address, receive.count, *receive.type);
}

CollTask Allreduce::algorithm(CollContext& exchange) const {
  const CallShape shape{.bytes = bytes_of(receive), .commutative = op->commutative};
  switch (exchange.choose(Family::allreduce, shape)) {
    case Way::levels:
      return allreduce_levels(exchange, *this);
    case Way::direct:
      return allreduce_direct(exchange, *this);
    case Way::ring:
      return allreduce_ring(exchange, *this);
    case Way::segments:
      return allreduce_segments(exchange, *this);
    case Way::halving:
      return allreduce_halving(exchange, *this);
    default:
      return allreduce_doubling(exchange, *this);
  }
}

Error allreduce(const void* send, const Data& receive, const Op& op, Comm& comm) {
  const int tag = next_tag(comm);
  Allreduce call{send, receive, &op};
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  if (device::ShmCollArea* coll_area = idle_area(comm, area_for<AllreduceRounds>(comm, call));
      coll_area != nullptr) {
    return allreduce_on(*coll_area, call, comm);
  }
  if (receive.count == 0) return {};
  return run_call(comm, tag, call);
}

Error iallreduce(const void* send, const Data& receive, const Op& op, Comm& comm,
                 MPI_Request& request) {
  return start_on_area<AllreduceRounds>(comm, next_tag(comm), Allreduce{send, receive, &op},
                                        request);
}

Error allreduce_init(const void* send, const Data& receive, const Op& op, Comm& comm,
                     Info* /*info*/, MPI_Request& request) {
  return keep_on_area<AllreduceRounds>(comm, next_persistent_tag(comm),
                                       Allreduce{send, receive, &op}, request);
}

}  // namespace fulmar::mpi
