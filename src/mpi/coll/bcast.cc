// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/board.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/exchange.h"
#include "mpi/coll/scratch.h"

/// On a board the root posts and the others wait for it. Else a binomial tree over the ranks
/// counted from the root: whoever has the data hands them to the middle of what is left of its
/// part. log2(n) steps; every count and type.
namespace fulmar::mpi {

base::Error bcast(const Data& data, int root, Comm& comm) {
  Exchange exchange(comm);
  const int n = exchange.size();
  const Count bytes = bytes_of(data);
  if (n == 1 || bytes == 0) return {};
  if (device::NodeBoard* board = board_for(comm, bytes); board != nullptr) {
    if (comm.rank == root) {
      post_data(*board, as_const(data));
    } else {
      board->post();
      board->wait_for(root);
      take_data(*board, root, bytes, data);
    }
    return {};
  }
  const int place = (exchange.rank() - root + n) % n;
  const auto rank_at = [&](int other) { return (other + root) % n; };
  int distance = 1;
  while (distance < n && (place & distance) == 0) distance *= 2;
  if (place != 0) exchange.receive(data, rank_at(place - distance));
  for (distance /= 2; distance > 0; distance /= 2) {
    if (place + distance < n) exchange.send(as_const(data), rank_at(place + distance));
  }
  return exchange.result();
}

}  // namespace fulmar::mpi
