// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/calls.h"
#include "mpi/coll/posted_operands.h"
#include "mpi/coll/reduction.h"

/// On a board every rank posts its operand and combines those up to its own. Else recursive
/// doubling: after step k a rank knows the sum over its block of 2^(k+1) ranks, as far as
/// they exist, and the sum over the ranks up to its own one in it. What it hears from a block
/// before its own goes into both, in the order of the ranks. log2(n) steps, every count and type.
namespace fulmar::mpi {
namespace {

using base::Error;

/// The sum over all ranks before this one, kept for an exclusive scan.
struct Before {
  Scratch memory;
  bool set = false;

  explicit Before(const Reduction& reduction) noexcept : memory(reduction.type, reduction.count) {}
  /// sum = lower op sum
  void add(const Reduction& reduction, const void* lower) {
    if (set) {
      reduction.apply(lower, memory.address());
    } else {
      reduction.copy(lower, memory.address());
      set = true;
    }
  }
};

void sweep(Exchange& exchange, const Reduction& reduction, Accumulator& block, Before& before) {
  for (int distance = 1; distance < exchange.size(); distance *= 2) {
    const int other = exchange.rank() ^ distance;
    if (other >= exchange.size()) continue;
    exchange.send_receive(reduction.at(block.value()), other, reduction.at(block.room()), other);
    if (other > exchange.rank()) {
      block.take_right();
    } else {
      before.add(reduction, block.room());
      block.take_left();
    }
  }
}

enum class Own : bool { excluded, included };

Error run_scan(const void* send, const Data& receive, const Op& op, Comm& comm, Own own) {
  Exchange exchange(comm);
  if (const Error bad = check_reduction(op, *receive.type); bad.failed()) return bad;
  const Error wrong = check_operands(send, receive.address, receive.count, *receive.type);
  if (wrong.failed()) return wrong;
  if (receive.count == 0) return {};
  const Reduction reduction{op, *receive.type, receive.count};
  const Count bytes = receive.count * receive.type->size;
  if (device::NodeBoard* board = board_for(comm, bytes); board != nullptr) {
    post_data(*board, reduction.at(is_in_place(send) ? receive.address : send));
    PostedOperands operands(*board, reduction);
    const int end = own == Own::included ? comm.rank + 1 : comm.rank;
    board->wait_before(end);
    if (operands.failed()) return operands.error();
    if (end > 0) operands.combine(0, end, receive.address);
    return {};
  }
  const Scratch first(reduction.type, reduction.count);
  Before before(reduction);
  Accumulator block(reduction, first.address());
  if (first.failed() || before.memory.failed() || block.failed()) return first.error();
  // The own value is needed at the end, and the receive buffer may be where it is.
  reduction.copy(is_in_place(send) ? receive.address : send, first.address());
  sweep(exchange, reduction, block, before);
  if (own == Own::included) {
    if (before.set) reduction.apply(before.memory.address(), first.address());
    reduction.copy(first.address(), receive.address);
  } else if (before.set) {
    reduction.copy(before.memory.address(), receive.address);
  }
  return exchange.result();
}

}  // namespace

Error scan(const void* send, const Data& receive, const Op& op, Comm& comm) {
  return run_scan(send, receive, op, comm, Own::included);
}

Error exscan(const void* send, const Data& receive, const Op& op, Comm& comm) {
  return run_scan(send, receive, op, comm, Own::excluded);
}

}  // namespace fulmar::mpi
