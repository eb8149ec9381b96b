// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/node_map.h"
#include "mpi/coll/reduction.h"

/// Two levels: what can be done within a node is done there, and one rank of each node, its leader,
/// talks to those of other nodes. Each of the two parts is an algorithm of its own on a confined
/// exchange, chosen by the same table. A message between nodes costs many times one within a node;
/// so each byte crosses as few times as there are nodes. The leader of the root's node is the root.
///
/// Reductions combine by node, so the operation must commute.
namespace fulmar::mpi {
namespace {

/// The two groups that a rank may belong to in one call.
struct Levels {
  const NodeMap& nodes;
  std::vector<int> leaders;
  std::vector<int> own;

  Levels(Comm& comm, int root)
      : nodes(node_map(comm)),
        leaders(nodes.leaders().begin(), nodes.leaders().end()),
        own(nodes.own().begin(), nodes.own().end()) {
    leaders[static_cast<std::size_t>(nodes.node_of(root))] = root;
  }
  [[nodiscard]] int own_node(const Comm& comm) const noexcept { return nodes.node_of(comm.rank); }
  [[nodiscard]] bool leads(const Comm& comm) const noexcept {
    return leaders[static_cast<std::size_t>(own_node(comm))] == comm.rank;
  }
  /// The place of the leader among the ranks of the own node.
  [[nodiscard]] int leader_place(const Comm& comm) const noexcept {
    const int leader = leaders[static_cast<std::size_t>(own_node(comm))];
    int place = 0;
    while (own[static_cast<std::size_t>(place)] != leader) ++place;
    return place;
  }

  void enter_node(CollContext& exchange) const noexcept { exchange.confine(own, nodes.place()); }
  void enter_leaders(CollContext& exchange) const noexcept {
    exchange.confine(leaders, own_node(exchange.comm()));
  }
};

CollTask gather_signs(CollContext& exchange) {
  const Datatype& bytes = exchange.byte_type();
  if (exchange.rank() != 0) {
    co_await exchange.send({nullptr, 0, &bytes}, 0);
    co_return;
  }
  for (int rank = 1; rank < exchange.size(); ++rank) {
    co_await exchange.receive({nullptr, 0, &bytes}, rank);
  }
}

CollTask spread_signs(CollContext& exchange) {
  const Datatype& bytes = exchange.byte_type();
  if (exchange.rank() != 0) {
    co_await exchange.receive({nullptr, 0, &bytes}, 0);
    co_return;
  }
  for (int rank = 1; rank < exchange.size(); ++rank) {
    co_await exchange.send({nullptr, 0, &bytes}, rank);
  }
}

}  // namespace

CollTask barrier_levels(CollContext& exchange) {
  const Levels levels(exchange.comm(), 0);
  levels.enter_node(exchange);
  co_await gather_signs(exchange);
  if (levels.leads(exchange.comm())) {
    levels.enter_leaders(exchange);
    co_await Barrier{}.algorithm(exchange);
  }
  levels.enter_node(exchange);
  co_await spread_signs(exchange);
  exchange.widen();
}

CollTask bcast_levels(CollContext& exchange, Data data, int root) {
  const Comm& comm = exchange.comm();
  const Levels levels(exchange.comm(), root);
  if (levels.leads(comm)) {
    levels.enter_leaders(exchange);
    co_await Bcast{data, levels.nodes.node_of(root)}.algorithm(exchange);
  }
  levels.enter_node(exchange);
  co_await Bcast{data, levels.leader_place(comm)}.algorithm(exchange);
  exchange.widen();
}

CollTask reduce_levels(CollContext& exchange, const Reduce& call) {
  const Comm& comm = exchange.comm();
  const Levels levels(exchange.comm(), call.root);
  const bool at_root = comm.rank == call.root;
  Scratch partial(*call.type, levels.leads(comm) && !at_root ? call.count : 0);
  if (partial.failed()) {
    exchange.note(partial.error());
    co_return;
  }
  Reduce within = call;
  within.root = levels.leader_place(comm);
  if (!at_root) within.receive = partial.address();
  levels.enter_node(exchange);
  co_await within.algorithm(exchange);
  if (levels.leads(comm)) {
    Reduce between = within;
    between.root = levels.nodes.node_of(call.root);
    between.send = at_root ? MPI_IN_PLACE : partial.address();
    levels.enter_leaders(exchange);
    co_await between.algorithm(exchange);
  }
  exchange.widen();
}

CollTask allreduce_levels(CollContext& exchange, const Allreduce& call) {
  const Comm& comm = exchange.comm();
  const Levels levels(exchange.comm(), 0);
  const bool leads = levels.leads(comm);
  const Reduce within{leads ? call.send : call.own(),
                      call.receive.address,
                      call.receive.count,
                      call.receive.type,
                      call.op,
                      0};
  levels.enter_node(exchange);
  co_await within.algorithm(exchange);
  if (leads) {
    const Allreduce between{MPI_IN_PLACE, call.receive, call.op};
    levels.enter_leaders(exchange);
    co_await between.algorithm(exchange);
  }
  levels.enter_node(exchange);
  co_await Bcast{call.receive, 0}.algorithm(exchange);
  exchange.widen();
}

}  // namespace fulmar::mpi
