// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/reduction.h"

/// Every rank gets the others' operands of its own part directly and combines them from the last
/// rank to the first, so that operations need not commute: n - 1 messages out and in, one round.
/// Every byte is copied once and combined once, by the rank that needs it. Memory for a few
/// operands of the part. `own` are the operands of this rank; `result` may be its own block among
/// them.
namespace fulmar::mpi {
namespace {

constexpr int parts_at_once = 8;

/// Operands of others, received in the order in which they are combined.
struct Incoming {
  Scratch memory;
  Transfers transfers;
  Reduction reduction;
  int next;  ///< whose operand is asked for next
  int self;
  int asked = 0;
  int used = 0;

  Incoming(CollContext& exchange, const Reduction& what)
      : memory(what.type, what.count * std::min(parts_at_once, exchange.size())),
        transfers(exchange, std::min(parts_at_once, exchange.size())),
        reduction(what),
        next(exchange.size() - 1),
        self(exchange.rank()) {}

  [[nodiscard]] int place(int number) const noexcept { return number % transfers.capacity(); }
  [[nodiscard]] void* operand(int number) const noexcept {
    return shifted(memory.address(), reduction.type.extent * reduction.count * place(number));
  }
  void ask() noexcept {
    while (next >= 0 && asked - used < std::min(parts_at_once, transfers.capacity())) {
      if (next != self) {
        transfers.receive_at(place(asked), reduction.at(operand(asked)), next);
        ++asked;
      }
      --next;
    }
  }
};

}  // namespace

CollTask combine_parts(CollContext& exchange, const Blocks& own, const Op& op, void* result) {
  const int self = exchange.rank();
  const Data own_block = own[self];
  const Reduction reduction{op, *own_block.type, own_block.count};
  Scratch sum(reduction.type, reduction.count);
  Incoming incoming(exchange, reduction);
  if (sum.failed() || incoming.memory.failed()) {
    exchange.note(sum.failed() ? sum.error() : incoming.memory.error());
    co_return;
  }
  Transfers outgoing(exchange, exchange.size());
  if (own_block.count > 0) incoming.ask();
  for (int step = 1; step < exchange.size(); ++step) {
    const int dest = exchange.neighbour(step);
    const ConstData block = own.to(dest);
    if (block.count > 0 && outgoing.full()) co_await outgoing.wait();
    if (block.count > 0) outgoing.send(block, dest);
  }
  for (int rank = exchange.size() - 1; rank >= 0 && own_block.count > 0; --rank) {
    const void* operand = own_block.address;
    if (rank != self) {
      co_await incoming.transfers.wait_for(incoming.place(incoming.used));
      operand = incoming.operand(incoming.used);
    }
    if (rank == exchange.size() - 1) {
      reduction.copy(operand, sum.address());
    } else {
      reduction.apply(operand, sum.address());
    }
    if (rank != self) {
      ++incoming.used;
      incoming.ask();
    }
  }
  // The blocks that go out may lie where the result goes.
  co_await outgoing.wait();
  reduction.copy(sum.address(), result);
}

}  // namespace fulmar::mpi
