// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/calls.h"
#include "mpi/coll/posted_operands.h"
#include "mpi/coll/reduction.h"

/// On a board every rank posts its operand and the root combines them. Else a binomial tree: each
/// rank combines its value with those of its children, which stand for the
/// ranks that follow it, so operands stay in the order of the ranks. For operations that do not
/// commute the tree is counted from rank 0, which then hands the result to the root; others count
/// from the root. log2(n) steps, every count and type.
namespace fulmar::mpi {
namespace {

using base::Error;

/// Sends the value up the tree that starts at `top`; true there, where it is the result.
bool climb(Exchange& exchange, const Reduction& reduction, Accumulator& sum, int top) {
  const int n = exchange.size();
  const int place = (exchange.rank() - top + n) % n;
  const auto rank_at = [&](int other) { return (other + top) % n; };
  for (int distance = 1; distance < n; distance *= 2) {
    if ((place & distance) != 0) {
      exchange.send(reduction.at(sum.value()), rank_at(place - distance));
      return false;
    }
    if (place + distance >= n) continue;
    exchange.receive(reduction.at(sum.room()), rank_at(place + distance));
    sum.take_right();
  }
  return true;
}

}  // namespace

Error reduce(const void* send, void* receive, Count count, const Datatype& type, const Op& op,
             int root, Comm& comm) {
  Exchange exchange(comm);
  if (const Error bad = check_reduction(op, type); bad.failed()) return bad;
  const bool at_root = comm.rank == root;
  const Error bad = at_root ? check_operands(send, receive, count, type)
                            : check_buffer("sendbuf", send, count, type);
  if (bad.failed()) return bad;
  if (count == 0) return {};
  const Reduction reduction{op, type, count};
  const void* own = is_in_place(send) ? receive : send;
  const Count bytes = count * type.size;
  if (device::NodeBoard* board = board_for(comm, bytes); board != nullptr) {
    post_data(*board, reduction.at(own));
    if (!at_root) return {};
    PostedOperands operands(*board, reduction);
    board->wait_all();
    if (operands.failed()) return operands.error();
    operands.combine(0, comm.size(), receive);
    return {};
  }
  Accumulator sum(reduction, own);
  if (sum.failed()) return sum.error();
  const int top = op.commutative ? root : 0;
  const bool done = climb(exchange, reduction, sum, top);
  if (done && at_root) {
    if (sum.value() != receive) reduction.copy(sum.value(), receive);
  } else if (done) {
    exchange.send(reduction.at(sum.value()), root);
  } else if (at_root) {
    exchange.receive(reduction.at(receive), top);
  }
  return exchange.result();
}

}  // namespace fulmar::mpi
