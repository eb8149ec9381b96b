// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/calls.h"
#include "mpi/coll/exchange.h"

/// On a board: everybody posts and waits for all. With messages dissemination: in round k every
/// rank tells the one 2^k places on and hears from the one 2^k places back; after log2(n) rounds
/// all have heard of all. No payload, no restriction.
namespace fulmar::mpi {

base::Error barrier(Comm& comm) {
  if (comm.board != nullptr) {
    comm.board->post();
    comm.board->wait_all();
    return {};
  }
  Exchange exchange(comm);
  const Datatype& bytes = *comm.library->find<Datatype>(MPI_BYTE);
  for (int distance = 1; distance < exchange.size(); distance *= 2) {
    exchange.send_receive({nullptr, 0, &bytes}, exchange.neighbour(distance), {nullptr, 0, &bytes},
                          exchange.neighbour(-distance));
  }
  return exchange.result();
}

}  // namespace fulmar::mpi
