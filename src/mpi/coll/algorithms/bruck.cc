// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "base/copy.h"
#include "mpi/coll/algorithms/algorithms.h"

/// Bruck's algorithms for many short equal blocks: log2(n) rounds for any number of ranks n, paid
/// with copies. The blocks are kept as packed bytes, in the order of the distance of their ranks
/// from the own one, so types do not matter.
///
/// All-gather: in round k a rank sends the up to 2^k blocks that it has to the one 2^k places back.
/// All-to-all: a block for the rank at distance d makes the hops of d's bits; in round k all blocks
/// whose distance has bit k go 2^k places on together, which moves each block log2(n)/2 times.
namespace fulmar::mpi {
namespace {

std::byte* bytes_at(const Scratch& memory, Count offset) noexcept {
  return static_cast<std::byte*>(memory.address()) + offset;
}

}  // namespace

CollTask allgather_bruck(CollContext& exchange, const Allgather& call) {
  const int n = exchange.size();
  const Datatype& byte = exchange.byte_type();
  const Count block = bytes_of(call.receive[0]);
  const Scratch all(byte, block * n);
  if (all.failed()) {
    exchange.note(all.error());
    co_return;
  }
  const ConstData own =
      is_in_place(call.send.address) ? call.receive.to(exchange.rank()) : call.send;
  exchange.note(copy_data(own, {all.address(), block, &byte}));
  for (int have = 1; have < n; have *= 2) {
    const Count moved = block * std::min(have, n - have);
    co_await exchange.send_receive({all.address(), moved, &byte}, exchange.neighbour(-have),
                                   {bytes_at(all, block * have), moved, &byte},
                                   exchange.neighbour(have));
  }
  for (int distance = 0; distance < n; ++distance) {
    const int rank = exchange.neighbour(distance);
    const bool there = distance == 0 && is_in_place(call.send.address);
    if (there) continue;
    exchange.note(copy_data({bytes_at(all, block * distance), block, &byte}, call.receive[rank]));
  }
}

CollTask alltoall_bruck(CollContext& exchange, const Alltoall& call) {
  const int n = exchange.size();
  const Datatype& byte = exchange.byte_type();
  const Blocks& from = call.send.in_place() ? call.receive : call.send;
  const Count block = bytes_of(call.receive[0]);
  const Scratch all(byte, block * n);
  const Scratch out(byte, block * n);
  const Scratch in(byte, block * n);
  if (all.failed() || out.failed() || in.failed()) {
    exchange.note(in.error());
    co_return;
  }
  for (int distance = 0; distance < n; ++distance) {
    exchange.note(copy_data(from.to(exchange.neighbour(distance)),
                            {bytes_at(all, block * distance), block, &byte}));
  }
  const auto size = static_cast<std::size_t>(block);
  for (int bit = 1; bit < n; bit *= 2) {
    Count moved = 0;
    for (int distance = bit; distance < n; ++distance) {
      if ((distance & bit) == 0) continue;
      base::copy_bytes(bytes_at(out, moved), bytes_at(all, block * distance), size);
      moved += block;
    }
    co_await exchange.send_receive({out.address(), moved, &byte}, exchange.neighbour(bit),
                                   {in.address(), moved, &byte}, exchange.neighbour(-bit));
    moved = 0;
    for (int distance = bit; distance < n; ++distance) {
      if ((distance & bit) == 0) continue;
      base::copy_bytes(bytes_at(all, block * distance), bytes_at(in, moved), size);
      moved += block;
    }
  }
  for (int distance = 0; distance < n; ++distance) {
    exchange.note(copy_data({bytes_at(all, block * distance), block, &byte},
                            call.receive[exchange.neighbour(-distance)]));
  }
}

}  // namespace fulmar::mpi
