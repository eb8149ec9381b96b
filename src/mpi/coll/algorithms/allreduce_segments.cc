// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/algorithms/parts.h"
#include "mpi/coll/reduction.h"

/// The ring of allreduce_ring.cc with parts cut into segments. A rank hands a segment on as soon as
/// it has added its own operand, while the next one of the same part is still coming; so the time
/// of a step is that of the longer of both, moving and combining, instead of their sum. For long
/// data. The operation must commute. Memory for two segments, and only in place.
namespace fulmar::mpi {
namespace {

constexpr Count segment_bytes = 64 * 1024;
constexpr int segments_at_once = 2;

/// A place in the order in which segments travel. In step s the part of the rank s places back
/// comes, segment by segment; in step s + 1 it goes on. Step 0 is the own part, which only goes.
struct At {
  int step;
  Count segment;

  [[nodiscard]] bool before(const At& other) const noexcept {
    return step < other.step || (step == other.step && segment < other.segment);
  }
};

struct Trip {
  const Parts& parts;
  Count most;  ///< elements of a segment
  int self;
  int n;

  [[nodiscard]] int part(int step) const noexcept { return ((self - step) % n + n) % n; }
  /// The first segment at a place or after it: parts may be empty.
  [[nodiscard]] At settled(At at) const noexcept {
    while (at.step < n && at.segment * most >= parts.count(part(at.step))) at = {at.step + 1, 0};
    return at;
  }
  [[nodiscard]] At after(const At& at) const noexcept { return settled({at.step, at.segment + 1}); }
  /// The elements of a segment in a buffer.
  [[nodiscard]] Data in(const Blocks& buffer, const At& at) const noexcept {
    const Data whole = buffer[part(at.step)];
    const Count begin = most * at.segment;
    return {shifted(whole.address, whole.type->extent * begin), std::min(most, whole.count - begin),
            whole.type};
  }
};

/// The segments that a rank receives, adds and hands on.
struct Adding {
  Trip trip;
  Blocks own;
  Blocks result;
  Scratch staging;  ///< in place nothing else can hold incoming segments
  At asked;
  At taken;
  At sent;
  int asked_count = 0;
  int taken_count = 0;
  int sent_count = 0;

  Adding(const Trip& of, const Blocks& operands, const Blocks& sums)
      : trip(of),
        own(operands),
        result(sums),
        staging(*sums.type, own.address == sums.address ? of.most * segments_at_once : 0),
        asked(of.settled({1, 0})),
        taken(asked),
        sent(of.settled({0, 0})) {}

  [[nodiscard]] bool in_place() const noexcept { return own.address == result.address; }
  /// Where the operands of others come.
  [[nodiscard]] Data incoming_at(const At& at, int number) const noexcept {
    Data there = trip.in(result, at);
    if (in_place()) {
      const Count offset = result.type->extent * trip.most * (number % segments_at_once);
      there.address = shifted(staging.address(), offset);
    }
    return there;
  }
  [[nodiscard]] bool may_ask() const noexcept {
    return asked.step < trip.n && asked_count < taken_count + segments_at_once;
  }
  /// The own part at any time, others once they are added; no more than what comes needs.
  [[nodiscard]] bool may_send() const noexcept {
    return sent.step < trip.n - 1 && sent_count < taken_count + segments_at_once &&
           (sent.step == 0 || sent.before(taken));
  }
  void add(const Op& op) const {
    const Data sum = trip.in(result, taken);
    const Reduction reduction{op, *sum.type, sum.count};
    if (in_place()) {
      reduction.apply(incoming_at(taken, taken_count).address, sum.address);
    } else {
      reduction.apply(trip.in(own, taken).address, sum.address);
    }
  }
};

/// After this, rank r has the result of part r + 1.
CollTask add_trip(CollContext& exchange, Adding& work, const Op& op) {
  Transfers incoming(exchange, segments_at_once);
  Transfers outgoing(exchange, segments_at_once);
  for (;;) {
    for (; work.may_ask(); ++work.asked_count, work.asked = work.trip.after(work.asked)) {
      incoming.receive_at(work.asked_count % segments_at_once,
                          work.incoming_at(work.asked, work.asked_count), exchange.neighbour(-1));
    }
    for (; work.may_send(); ++work.sent_count, work.sent = work.trip.after(work.sent)) {
      const int place = work.sent_count % segments_at_once;
      co_await outgoing.wait_for(place);
      const Blocks& from = work.sent.step == 0 ? work.own : work.result;
      outgoing.send_at(place, as_const(work.trip.in(from, work.sent)), exchange.neighbour(1));
    }
    if (work.taken.step >= work.trip.n) break;
    co_await incoming.wait_for(work.taken_count % segments_at_once);
    work.add(op);
    ++work.taken_count;
    work.taken = work.trip.after(work.taken);
  }
  co_await outgoing.wait();
}

/// The results go round; rank r begins with that of part r + 1.
CollTask circulate_results(CollContext& exchange, const Blocks& result) {
  for (int step = 1; step < exchange.size(); ++step) {
    const ConstData out = result.to(exchange.neighbour(2 - step));
    const Data in = result[exchange.neighbour(1 - step)];
    co_await exchange.send_receive(out, exchange.neighbour(1), in, exchange.neighbour(-1));
  }
}

}  // namespace

CollTask allreduce_segments(CollContext& exchange, const Allreduce& call) {
  const Data& receive = call.receive;
  if (exchange.size() == 1) {
    exchange.note(copy_data({call.own(), receive.count, receive.type}, receive));
    co_return;
  }
  const Parts parts(receive.count, exchange.size());
  const Count size = std::max<Count>(receive.type->size, 1);
  const Trip trip{parts, std::max<Count>(segment_bytes / size, 1), exchange.rank(),
                  exchange.size()};
  const Blocks result = parts.of(receive.address, *receive.type);
  Adding work(trip, parts.of(call.own(), *receive.type), result);
  if (work.staging.failed()) {
    exchange.note(work.staging.error());
    co_return;
  }
  co_await add_trip(exchange, work, *call.op);
  co_await circulate_results(exchange, result);
}

}  // namespace fulmar::mpi
