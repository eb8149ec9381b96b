// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/operations.h"
#include "mpi/coll/shm/shm_movement.h"
#include "mpi/coll/shm/shm_start.h"

/// On a collective area: everybody posts and waits for all. With messages dissemination: in round k every
/// rank tells the one 2^k places on and hears from the one 2^k places back; after log2(n) rounds
/// all have heard of all. No payload, no restriction.
namespace fulmar::mpi {

using base::Error;

namespace {

CollTask disseminate(CollContext& exchange) {
  const Datatype& bytes = exchange.byte_type();
  for (int distance = 1; distance < exchange.size(); distance *= 2) {
    const int next = exchange.neighbour(distance);
    const int previous = exchange.neighbour(-distance);
    co_await exchange.send_receive({nullptr, 0, &bytes}, next, {nullptr, 0, &bytes}, previous);
  }
}

}  // namespace

CollTask Barrier::algorithm(CollContext& exchange) const {
  return exchange.choose(Family::barrier, {}) == Way::levels ? barrier_levels(exchange)
                                                             : disseminate(exchange);
}

Error barrier(Comm& comm) {
  if (device::ShmCollArea* coll_area = idle_area(comm, shm_area_for(comm, {Family::barrier}));
      coll_area != nullptr) {
    coll_area->post();
    return coll_area->wait_all() ? Error{} : failure_of(comm);
  }
  return run_call(comm, next_tag(comm), Barrier{});
}

Error ibarrier(Comm& comm, MPI_Request& request) {
  return start_on_area<BarrierRounds>(comm, next_tag(comm), Barrier{}, request);
}

Error barrier_init(Comm& comm, Info* /*info*/, MPI_Request& request) {
  return keep_on_area<BarrierRounds>(comm, next_persistent_tag(comm), Barrier{}, request);
}

}  // namespace fulmar::mpi
