// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/algorithms/algorithms.h"

/// The data go from rank to rank in pieces; each rank hands a piece on while the next one comes.
/// All ranks copy at the same time, so with a core for each the time is that of one copy, and a few
/// pieces for the length of the chain. n - 1 steps for a piece. Data that are no one run of bytes
/// are packed first and unpacked last.
namespace fulmar::mpi {
namespace {

constexpr Count piece_bytes = 128 * 1024;
constexpr int pieces_at_once = 2;  ///< pieces that come, and as many that go

}  // namespace

CollTask bcast_chain(CollContext& exchange, Data data, int root) {
  const Datatype& byte = exchange.byte_type();
  const Count bytes = bytes_of(data);
  const bool first = exchange.rank() == root;
  const bool last = exchange.neighbour(1) == root;
  const bool packed = !data.type->contiguous;
  const Scratch copy(byte, packed ? bytes : 0);
  if (copy.failed()) {
    exchange.note(copy.error());
    co_return;
  }
  const Data flat{packed ? copy.address() : data.address, bytes, &byte};
  if (packed && first) exchange.note(copy_data(as_const(data), flat));
  const Count pieces = (bytes + piece_bytes - 1) / piece_bytes;
  const auto piece = [&](Count i) {
    return Data{shifted(flat.address, i * piece_bytes),
                std::min(piece_bytes, bytes - i * piece_bytes), &byte};
  };
  Transfers incoming(exchange, pieces_at_once);
  Transfers outgoing(exchange, pieces_at_once);
  for (Count i = 0; i < std::min<Count>(pieces, pieces_at_once) && !first; ++i) {
    incoming.receive_at(static_cast<int>(i), piece(i), exchange.neighbour(-1));
  }
  for (Count i = 0; i < pieces; ++i) {
    const int place = static_cast<int>(i % pieces_at_once);
    if (!first) {
      co_await incoming.wait_for(place);
      if (i + pieces_at_once < pieces) {
        incoming.receive_at(place, piece(i + pieces_at_once), exchange.neighbour(-1));
      }
    }
    if (last) continue;
    co_await outgoing.wait_for(place);
    outgoing.send_at(place, as_const(piece(i)), exchange.neighbour(1));
  }
  co_await outgoing.wait();
  if (packed && !first) exchange.note(copy_data(as_const(flat), data));
}

}  // namespace fulmar::mpi
