// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/algorithms/algorithms.h"

/// Gather and scatter of short equal blocks over a binomial tree of the ranks counted from the
/// root: whoever stands for the ranks that follow it passes their blocks on in one message. log2(n)
/// steps instead of n - 1 messages at the root; a block is copied up to log2(n) times. The blocks
/// are packed bytes on the way.
namespace fulmar::mpi {
namespace {

/// The blocks of a rank and of those that it stands for.
struct Branch {
  int n;
  int place;
  int distance = 1;  ///< to the rank that stands for this one; >= n at the root
  int size;          ///< ranks, with the own one
  Count block;
  Scratch blocks;

  Branch(CollContext& exchange, int root, Count block_bytes)
      : n(exchange.size()),
        place((exchange.rank() - root + n) % n),
        distance(up(place, n)),
        size(std::min(distance, n - place)),
        block(block_bytes),
        blocks(exchange.byte_type(), block_bytes * size) {}

  static int up(int place, int n) noexcept {
    int distance = 1;
    while (distance < n && (place & distance) == 0) distance *= 2;
    return distance;
  }
  /// Blocks of the ranks from `first` places behind the own one on.
  [[nodiscard]] Data at(CollContext& exchange, int first, int count) const noexcept {
    return {shifted(blocks.address(), block * first), block * count, &exchange.byte_type()};
  }
  /// What the rank `first` places behind stands for.
  [[nodiscard]] int below(int first) const noexcept { return std::min(first, n - place - first); }
};

}  // namespace

CollTask gather_binomial(CollContext& exchange, const Gather& call) {
  const bool at_root = exchange.rank() == call.root;
  const bool in_place = at_root && is_in_place(call.send.address);
  const ConstData own = in_place ? call.receive.to(call.root) : call.send;
  const Branch branch(exchange, call.root, bytes_of(own));
  if (branch.blocks.failed()) {
    exchange.note(branch.blocks.error());
    co_return;
  }
  exchange.note(copy_data(own, branch.at(exchange, 0, 1)));
  for (int first = 1; first < branch.distance && first < branch.n - branch.place; first *= 2) {
    co_await exchange.receive(branch.at(exchange, first, branch.below(first)),
                              exchange.neighbour(first));
  }
  if (!at_root) {
    co_await exchange.send(as_const(branch.at(exchange, 0, branch.size)),
                           exchange.neighbour(-branch.distance));
    co_return;
  }
  for (int place = in_place ? 1 : 0; place < branch.n; ++place) {
    exchange.note(copy_data(as_const(branch.at(exchange, place, 1)),
                            call.receive[exchange.neighbour(place)]));
  }
}

CollTask scatter_binomial(CollContext& exchange, const Scatter& call) {
  const bool at_root = exchange.rank() == call.root;
  const Count block = bytes_of(at_root ? call.send[call.root] : call.receive);
  const Branch branch(exchange, call.root, block);
  if (branch.blocks.failed()) {
    exchange.note(branch.blocks.error());
    co_return;
  }
  for (int place = 0; place < branch.n && at_root; ++place) {
    exchange.note(
        copy_data(call.send.to(exchange.neighbour(place)), branch.at(exchange, place, 1)));
  }
  if (!at_root) {
    co_await exchange.receive(branch.at(exchange, 0, branch.size),
                              exchange.neighbour(-branch.distance));
  }
  for (int first = branch.distance / 2; first > 0; first /= 2) {
    if (first >= branch.n - branch.place) continue;
    co_await exchange.send(as_const(branch.at(exchange, first, branch.below(first))),
                           exchange.neighbour(first));
  }
  if (!at_root || !is_in_place(call.receive.address)) {
    exchange.note(copy_data(as_const(branch.at(exchange, 0, 1)), call.receive));
  }
}

}  // namespace fulmar::mpi
