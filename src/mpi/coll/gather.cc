// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/board.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/exchange.h"
#include "mpi/coll/scratch.h"

/// On a board every rank posts its block. Else every rank sends to the root, which receives into
/// place: n - 1 messages, no copies between.
namespace fulmar::mpi {
namespace {

constexpr int at_once = 64;

/// Collects one block from each rank; `block(r)` is where rank r's goes.
template <class Block>
base::Error collect(Exchange& exchange, const ConstData& send, Block&& block) {
  const int self = exchange.rank();
  Transfers transfers(exchange, std::min(at_once, exchange.size()));
  for (int rank = 0; rank < exchange.size(); ++rank) {
    if (rank != self) transfers.receive(block(rank), rank);
  }
  if (!is_in_place(send.address)) exchange.note(copy_data(send, block(self)));
  transfers.wait();
  return exchange.result();
}

base::Error contribute(Exchange& exchange, const ConstData& send, int root) {
  exchange.send(send, root);
  return exchange.result();
}

}  // namespace

base::Error gather(const ConstData& send, const Data& receive, int root, Comm& comm) {
  Exchange exchange(comm);
  if (comm.rank != root) {
    if (const base::Error bad = refuse_in_place("sendbuf", send.address, "at the root");
        bad.failed()) {
      return bad;
    }
    if (device::NodeBoard* board = board_for(comm, bytes_of(send)); board != nullptr) {
      post_data(*board, send);
      return {};
    }
    return contribute(exchange, send, root);
  }
  const auto block = [&](int rank) {
    return Data{shifted(receive.address, receive.type->extent * receive.count * rank),
                receive.count, receive.type};
  };
  const Count bytes = bytes_of(receive);
  device::NodeBoard* board = board_for(comm, bytes);
  if (board == nullptr) return collect(exchange, send, block);
  if (!is_in_place(send.address)) exchange.note(copy_data(send, block(root)));
  board->post();
  board->wait_all();
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank != root) take_data(*board, rank, bytes, block(rank));
  }
  return exchange.result();
}

base::Error gatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                    const Datatype* type, int root, Comm& comm) {
  Exchange exchange(comm);
  if (comm.rank != root) {
    if (const base::Error bad = refuse_in_place("sendbuf", send.address, "at the root");
        bad.failed()) {
      return bad;
    }
    return contribute(exchange, send, root);
  }
  if (const base::Error bad = check_counts("recvcounts", counts, comm.size()); bad.failed()) {
    return bad;
  }
  if (const base::Error bad = check_displs("displs", displs); bad.failed()) return bad;
  return collect(exchange, send, [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return Data{shifted(receive, type->extent * displs[i]), counts[i], type};
  });
}

}  // namespace fulmar::mpi
