// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/algorithms/algorithms.h"

/// Every rank sends its block to all others, which receive it into place: n - 1 messages out and in
/// for each rank, one round. Blocks of any sizes; those without data are not sent.
namespace fulmar::mpi {

CollTask spread_parts(CollContext& exchange, const Blocks& blocks) {
  constexpr int at_once = 32;
  const ConstData own = blocks.to(exchange.rank());
  Transfers transfers(exchange, 2 * std::min(at_once, exchange.size()));
  for (int step = 1; step < exchange.size(); ++step) {
    const int source = exchange.neighbour(-step);
    const Data block = blocks[source];
    if (transfers.free_places() < 2) co_await transfers.wait();
    if (bytes_of(block) > 0) transfers.receive(block, source);
    if (bytes_of(own) > 0) transfers.send(own, exchange.neighbour(step));
  }
  co_await transfers.wait();
}

}  // namespace fulmar::mpi
