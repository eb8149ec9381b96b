// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/shm/shm_movement.h"
#include "mpi/coll/shm/shm_start.h"

/// On a collective area (shm_movement.cc), or a binomial tree over the ranks
/// counted from the root: whoever has the data hands them to the middle of what is left of its
/// part. log2(n) steps; every count and type.
namespace fulmar::mpi {

using base::Error;

namespace {

CollTask bcast_binomial(CollContext& exchange, Data data, int root) {
  const int n = exchange.size();
  if (n == 1 || bytes_of(data) == 0) co_return;
  const int place = (exchange.rank() - root + n) % n;
  int distance = 1;
  while (distance < n && (place & distance) == 0) distance *= 2;
  if (place != 0) co_await exchange.receive(data, (place - distance + root) % n);
  for (distance /= 2; distance > 0; distance /= 2) {
    if (place + distance < n) {
      co_await exchange.send(as_const(data), (place + distance + root) % n);
    }
  }
}

}  // namespace

CollTask Bcast::algorithm(CollContext& exchange) const {
  const Way way = exchange.choose(Family::bcast, {.bytes = bytes_of(data)});
  if (way == Way::levels) return bcast_levels(exchange, data, root);
  if (way == Way::chain) return bcast_chain(exchange, data, root);
  return way == Way::spread ? bcast_spread(exchange, data, root)
                            : bcast_binomial(exchange, data, root);
}

Error bcast(const Data& data, int root, Comm& comm) {
  const int tag = next_tag(comm);
  if (comm.is_inter) return run_inter_call(comm, tag, Bcast{data, root});
  if (comm.size() == 1) return {};
  const Bcast call{data, root};
  if (device::ShmCollArea* coll_area = idle_area(comm, area_for<BcastRounds>(comm, call));
      coll_area != nullptr) {
    return bcast_on(*coll_area, call, comm);
  }
  if (bytes_of(data) == 0) return {};
  return run_call(comm, tag, call);
}

Error ibcast(const Data& data, int root, Comm& comm, MPI_Request& request) {
  return start_on_area<BcastRounds>(comm, next_tag(comm), Bcast{data, root}, request);
}

Error bcast_init(const Data& data, int root, Comm& comm, Info* /*info*/, MPI_Request& request) {
  return keep_on_area<BcastRounds>(comm, next_persistent_tag(comm), Bcast{data, root}, request);
}

}  // namespace fulmar::mpi
