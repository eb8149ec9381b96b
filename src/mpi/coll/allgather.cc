// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/board.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/exchange.h"
#include "mpi/coll/scratch.h"

/// On a board everybody posts its block. Else a ring: the blocks travel round, each rank passes on
/// what it got in the step before. n - 1 steps whatever the sizes of the blocks, every byte moves
/// over each neighbour once.
namespace fulmar::mpi {
namespace {

template <class Block>
base::Error pass_round(Exchange& exchange, const ConstData& send, Block&& block) {
  if (!is_in_place(send.address)) exchange.note(copy_data(send, block(exchange.rank())));
  for (int step = 1; step < exchange.size(); ++step) {
    exchange.send_receive(as_const(block(exchange.neighbour(1 - step))), exchange.neighbour(1),
                          block(exchange.neighbour(-step)), exchange.neighbour(-1));
  }
  return exchange.result();
}

}  // namespace

base::Error allgather(const ConstData& send, const Data& receive, Comm& comm) {
  Exchange exchange(comm);
  const auto block = [&](int rank) {
    return Data{shifted(receive.address, receive.type->extent * receive.count * rank),
                receive.count, receive.type};
  };
  const Count bytes = bytes_of(receive);
  device::NodeBoard* board = board_for(comm, bytes);
  if (board == nullptr) return pass_round(exchange, send, block);
  if (!is_in_place(send.address)) exchange.note(copy_data(send, block(comm.rank)));
  post_data(*board, as_const(block(comm.rank)));
  board->wait_all();
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank != comm.rank) take_data(*board, rank, bytes, block(rank));
  }
  return exchange.result();
}

base::Error allgatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                       const Datatype& type, Comm& comm) {
  Exchange exchange(comm);
  if (const base::Error bad = check_counts("recvcounts", counts, comm.size()); bad.failed()) {
    return bad;
  }
  if (const base::Error bad = check_displs("displs", displs); bad.failed()) return bad;
  return pass_round(exchange, send, [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return Data{shifted(receive, type.extent * displs[i]), counts[i], &type};
  });
}

}  // namespace fulmar::mpi
