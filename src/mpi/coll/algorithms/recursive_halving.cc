// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/algorithms/parts.h"
#include "mpi/coll/algorithms/places.h"
#include "mpi/coll/reduction.h"

/// Reductions by recursive halving. In each of log2(n) steps two ranks exchange one half of the
/// elements that they still work on, and each goes on with the other half; in the end each has the
/// result of its part. A reduce-scatter is that alone; an all-reduce then doubles what each rank
/// has in log2(n) steps more (Rabenseifner's algorithm). Every byte is combined once and, of an
/// all-reduce, moves twice, in 2 log2(n) messages where a ring has 2(n - 1).
///
/// Operands are combined in another order than that of the ranks, so the operation must commute.
/// Where the number of ranks is no power of two, pairs of the first ranks work as one. Memory for
/// all elements twice.
namespace fulmar::mpi {
namespace {

/// What the places of an algorithm work with.
struct Halves {
  const Op& op;
  const Datatype& type;
  Places places;
  /// Where the elements of each place begin, and the end.
  std::vector<Count> bounds;
  Scratch sum;
  Scratch incoming;

  Halves(CollContext& exchange, const Op& op_used, const Datatype& of_type, Count total)
      : op(op_used),
        type(of_type),
        places(exchange.size()),
        sum(of_type, total),
        incoming(of_type, total) {}

  [[nodiscard]] bool failed() const noexcept { return sum.failed() || incoming.failed(); }
  [[nodiscard]] Count count(int first, int last) const noexcept {
    return bounds[static_cast<std::size_t>(last)] - bounds[static_cast<std::size_t>(first)];
  }
  /// The elements of places first to last - 1.
  [[nodiscard]] Data at(const Scratch& memory, int first, int last) const noexcept {
    const Count begin = bounds[static_cast<std::size_t>(first)];
    return {shifted(memory.address(), type.extent * begin), count(first, last), &type};
  }
};

/// A pair of ranks becomes one operand, of its even rank. The odd one has nothing to do until it
/// gets its result.
CollTask join_pair(CollContext& exchange, Halves& halves, const void* own) {
  const Count total = halves.bounds.back();
  const Reduction whole{halves.op, halves.type, total};
  whole.copy(own, halves.sum.address());
  if (!halves.places.paired(exchange.rank())) co_return;
  co_await exchange.receive(whole.at(halves.incoming.address()), exchange.rank() + 1);
  whole.apply(halves.incoming.address(), halves.sum.address());
}

/// After this each place has the sum of its part.
CollTask halve(CollContext& exchange, Halves& halves) {
  const int place = halves.places.place_of(exchange.rank());
  int first = 0;
  int last = halves.places.count;
  for (int distance = last / 2; distance > 0; distance /= 2) {
    const int other = halves.places.worker(place ^ distance);
    const int middle = first + distance;
    const bool low = place < middle;
    const Data leaving = halves.at(halves.sum, low ? middle : first, low ? last : middle);
    (low ? last : first) = middle;
    const Data coming = halves.at(halves.incoming, first, last);
    co_await exchange.send_receive(as_const(leaving), other, coming, other);
    const Reduction part{halves.op, halves.type, coming.count};
    part.apply(coming.address, halves.at(halves.sum, first, last).address);
  }
}

/// The reverse: after this each place has all.
CollTask collect(CollContext& exchange, Halves& halves) {
  const int place = halves.places.place_of(exchange.rank());
  for (int distance = 1; distance < halves.places.count; distance *= 2) {
    const int other = halves.places.worker(place ^ distance);
    const int own_first = place & ~(distance - 1);
    const int other_first = own_first ^ distance;
    const Data out = halves.at(halves.sum, own_first, own_first + distance);
    const Data in = halves.at(halves.sum, other_first, other_first + distance);
    co_await exchange.send_receive(as_const(out), other, in, other);
  }
}

}  // namespace

CollTask reduce_scatter_halving(CollContext& exchange, const ReduceScatter& call) {
  const int rank = exchange.rank();
  const Parts parts(exchange.size(), [&](int of) { return call.count_of(of); });
  const Data result{call.receive, parts.count(rank), call.type};
  if (Places(exchange.size()).paired(rank) && rank % 2 == 1) {
    co_await exchange.send({call.own(), parts.total(), call.type}, rank - 1);
    co_await exchange.receive(result, rank - 1);
    co_return;
  }
  Halves halves(exchange, *call.op, *call.type, parts.total());
  if (halves.failed()) {
    exchange.note(halves.sum.failed() ? halves.sum.error() : halves.incoming.error());
    co_return;
  }
  for (int place = 0; place < halves.places.count; ++place) {
    halves.bounds.push_back(parts.displ(halves.places.worker(place)));
  }
  halves.bounds.push_back(parts.total());
  co_await join_pair(exchange, halves, call.own());
  co_await halve(exchange, halves);
  const Blocks sums = parts.of(halves.sum.address(), *call.type);
  exchange.note(copy_data(sums.to(rank), result));
  if (halves.places.paired(rank)) co_await exchange.send(sums.to(rank + 1), rank + 1);
}

CollTask allreduce_halving(CollContext& exchange, const Allreduce& call) {
  const int rank = exchange.rank();
  const Datatype& type = *call.receive.type;
  if (Places(exchange.size()).paired(rank) && rank % 2 == 1) {
    co_await exchange.send({call.own(), call.receive.count, &type}, rank - 1);
    co_await exchange.receive(call.receive, rank - 1);
    co_return;
  }
  Halves halves(exchange, *call.op, type, call.receive.count);
  if (halves.failed()) {
    exchange.note(halves.sum.failed() ? halves.sum.error() : halves.incoming.error());
    co_return;
  }
  const Parts parts(call.receive.count, halves.places.count);
  for (int place = 0; place < halves.places.count; ++place) {
    halves.bounds.push_back(parts.displ(place));
  }
  halves.bounds.push_back(parts.total());
  co_await join_pair(exchange, halves, call.own());
  co_await halve(exchange, halves);
  co_await collect(exchange, halves);
  exchange.note(copy_data({halves.sum.address(), call.receive.count, &type}, call.receive));
  if (halves.places.paired(rank)) co_await exchange.send(as_const(call.receive), rank + 1);
}

}  // namespace fulmar::mpi
