// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/calls.h"
#include "mpi/coll/posted_operands.h"
#include "mpi/coll/reduction.h"

/// On a board every rank posts its operand and combines all of them, in the same way everywhere.
/// Else recursive doubling: in step k ranks that differ in bit k exchange what they have, and both
/// combine the two values in the order of the ranks; so all get the same bits, and operations need
/// not commute. Where the number of ranks is no power of two, pairs of the first ranks work as one.
/// log2(n) steps, every byte moves log2(n) times.
namespace fulmar::mpi {
namespace {

using base::Error;

/// The places of recursive doubling: the first 2 * `extra` ranks are pairs that share a place.
struct Places {
  int count;
  int extra;

  explicit Places(int n) noexcept : count(1) {
    while (count * 2 <= n) count *= 2;
    extra = n - count;
  }
  [[nodiscard]] bool paired(int rank) const noexcept { return rank < 2 * extra; }
  [[nodiscard]] int place_of(int rank) const noexcept {
    return paired(rank) ? rank / 2 : rank - extra;
  }
  /// The rank that works for a place: the even one of a pair.
  [[nodiscard]] int worker(int place) const noexcept {
    return place < extra ? 2 * place : place + extra;
  }
};

void double_up(Exchange& exchange, const Reduction& reduction, Accumulator& sum,
               const Places& places) {
  const int place = places.place_of(exchange.rank());
  for (int distance = 1; distance < places.count; distance *= 2) {
    const int other = places.worker(place ^ distance);
    exchange.send_receive(reduction.at(sum.value()), other, reduction.at(sum.room()), other);
    if (other > exchange.rank()) {
      sum.take_right();
    } else {
      sum.take_left();
    }
  }
}

}  // namespace

Error allreduce(const void* send, const Data& receive, const Op& op, Comm& comm) {
  Exchange exchange(comm);
  if (const Error bad = check_reduction(op, *receive.type); bad.failed()) return bad;
  const Error wrong = check_operands(send, receive.address, receive.count, *receive.type);
  if (wrong.failed()) return wrong;
  if (receive.count == 0) return {};
  const Reduction reduction{op, *receive.type, receive.count};
  const void* own = is_in_place(send) ? receive.address : send;
  const Count bytes = receive.count * receive.type->size;
  if (device::NodeBoard* board = board_for(comm, bytes); board != nullptr) {
    post_data(*board, reduction.at(own));
    PostedOperands operands(*board, reduction);
    board->wait_all();
    if (operands.failed()) return operands.error();
    operands.combine(0, comm.size(), receive.address);
    return {};
  }
  const Places places(exchange.size());
  const int rank = exchange.rank();
  if (places.paired(rank) && rank % 2 == 1) {
    exchange.send(reduction.at(own), rank - 1);
    exchange.receive(receive, rank - 1);
    return exchange.result();
  }
  Accumulator sum(reduction, own);
  if (sum.failed()) return sum.error();
  if (places.paired(rank)) {
    exchange.receive(reduction.at(sum.room()), rank + 1);
    sum.take_right();
  }
  double_up(exchange, reduction, sum, places);
  if (sum.value() != receive.address) reduction.copy(sum.value(), receive.address);
  if (places.paired(rank)) exchange.send(as_const(receive), rank + 1);
  return exchange.result();
}

}  // namespace fulmar::mpi
