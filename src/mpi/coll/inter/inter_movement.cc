// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/operations.h"

/// Collective operations that move data between the groups of an intercommunicator (MPI 5.0 section
/// 6.2.3).
///
/// What one process has for all of another group goes to that group's rank 0, which hands it on
/// inside (MPI_Bcast, MPI_Barrier): one message between the groups each way. What differs for each
/// process goes directly: one message between any two that have something to tell each other, no
/// copies. Ranks of messages are those of the other group; the own group talks on the communicator
/// that it is for itself, with the tag of the call. A group of one process has nothing to hand on:
/// its part ends with the message.
namespace fulmar::mpi {

namespace {

constexpr int at_once = 64;

CollTask barrier_between(CollContext& exchange) {
  const Datatype& byte = exchange.byte_type();
  if (exchange.size() == 1) {
    co_await exchange.send_receive({nullptr, 0, &byte}, 0, {nullptr, 0, &byte}, 0);
    co_return;
  }
  CollContext inside(*exchange.comm().local_comm, exchange.tag());
  const Barrier all_here;
  co_await all_here.algorithm(inside);
  if (exchange.rank() == 0) {
    co_await exchange.send_receive({nullptr, 0, &byte}, 0, {nullptr, 0, &byte}, 0);
  }
  std::byte go{};
  const Bcast all_there{{&go, 1, &byte}, 0};
  co_await all_there.algorithm(inside);
  exchange.note(inside.result());
}

CollTask bcast_between(CollContext& exchange, const Bcast& call) {
  if (call.root == MPI_PROC_NULL) co_return;
  if (call.root == MPI_ROOT) {
    co_await exchange.send(as_const(call.data), 0);
    co_return;
  }
  if (exchange.rank() == 0) co_await exchange.receive(call.data, call.root);
  if (exchange.size() == 1) co_return;
  CollContext inside(*exchange.comm().local_comm, exchange.tag());
  const Bcast hand_on{call.data, 0};
  co_await hand_on.algorithm(inside);
  exchange.note(inside.result());
}

CollTask gather_between(CollContext& exchange, const Gather& call) {
  if (call.root == MPI_PROC_NULL) co_return;
  if (call.root != MPI_ROOT) {
    co_await exchange.send(call.send, call.root);
    co_return;
  }
  const int ranks = exchange.comm().remote_size;
  Transfers transfers(exchange, std::min(at_once, ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    if (transfers.full()) co_await transfers.wait();
    transfers.receive(call.receive[rank], rank);
  }
  co_await transfers.wait();
}

CollTask scatter_between(CollContext& exchange, const Scatter& call) {
  if (call.root == MPI_PROC_NULL) co_return;
  if (call.root != MPI_ROOT) {
    co_await exchange.receive(call.receive, call.root);
    co_return;
  }
  const int ranks = exchange.comm().remote_size;
  Transfers transfers(exchange, std::min(at_once, ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    if (transfers.full()) co_await transfers.wait();
    transfers.send(call.send.to(rank), rank);
  }
  co_await transfers.wait();
}

/// A block to each process of the other group, and one from each. In round t ranks a and b of the
/// two groups meet that make t together (modulo the size of the larger group): the same round for
/// both, so nobody waits in a circle. `same` is sent to all where it has a type, else `each`.
CollTask trade(CollContext& exchange, const ConstData& same, const Blocks& each,
               const Blocks& receive) {
  const int remote = exchange.comm().remote_size;
  const int rounds = std::max(exchange.size(), remote);
  Transfers transfers(exchange, 2 * std::min(at_once / 2, remote));
  for (int round = 0; round < rounds; ++round) {
    const int partner = (round - exchange.rank() + rounds) % rounds;
    if (partner >= remote) continue;
    if (transfers.full()) co_await transfers.wait();
    transfers.receive(receive[partner], partner);
    if (transfers.full()) co_await transfers.wait();
    transfers.send(same.type != nullptr ? same : each.to(partner), partner);
  }
  co_await transfers.wait();
}

constexpr ConstData nothing_common{};
constexpr Blocks no_blocks{};

}  // namespace

CollTask Barrier::inter_algorithm(CollContext& exchange) { return barrier_between(exchange); }

CollTask Bcast::inter_algorithm(CollContext& exchange) const {
  return bcast_between(exchange, *this);
}

CollTask Gather::inter_algorithm(CollContext& exchange) const {
  return gather_between(exchange, *this);
}

CollTask Scatter::inter_algorithm(CollContext& exchange) const {
  return scatter_between(exchange, *this);
}

CollTask Allgather::inter_algorithm(CollContext& exchange) const {
  return trade(exchange, send, no_blocks, receive);
}

CollTask Alltoall::inter_algorithm(CollContext& exchange) const {
  return trade(exchange, nothing_common, send, receive);
}

}  // namespace fulmar::mpi
