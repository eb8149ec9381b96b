// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/shm/shm_movement.h"
#include "mpi/coll/shm/shm_start.h"

/// On a collective area (shm_movement.cc), or, see choice.cc, directly (spread_parts.cc), by
/// Bruck's algorithm (bruck.cc), or by a ring: the blocks travel round, each rank passes on what it
/// got in the step before. n - 1 steps whatever the sizes of the blocks, every byte moves over each
/// neighbour once.
namespace fulmar::mpi {

using base::Error;

namespace {

CollTask allgather_ring(CollContext& exchange, const Allgather& call) {
  const int next = exchange.neighbour(1);
  const int previous = exchange.neighbour(-1);
  if (!is_in_place(call.send.address)) {
    exchange.note(copy_data(call.send, call.receive[exchange.rank()]));
  }
  for (int step = 1; step < exchange.size(); ++step) {
    const ConstData out = call.receive.to(exchange.neighbour(1 - step));
    const Data in = call.receive[exchange.neighbour(-step)];
    co_await exchange.send_receive(out, next, in, previous);
  }
}

CollTask allgather_direct(CollContext& exchange, const Allgather& call) {
  if (!is_in_place(call.send.address)) {
    exchange.note(copy_data(call.send, call.receive[exchange.rank()]));
  }
  co_await spread_parts(exchange, call.receive);
}

Allgather allgather_call(const ConstData& send, const Data& receive) {
  return {send, Blocks::equal(receive)};
}

Allgatherv allgatherv_call(const ConstData& send, void* receive, CountArray counts,
                           CountArray displs, const Datatype& type) {
  return {{send, Blocks::various(receive, counts, displs, &type)}};
}

}  // namespace

Error Allgatherv::check(const Comm& comm) const {
  if (const Error bad = check_counts("recvcounts", receive.counts, comm.remote_size);
      bad.failed()) {
    return bad;
  }
  if (const Error bad = check_displs("displs", receive.displs); bad.failed()) return bad;
  if (const Error bad = check_blocks("recvbuf", receive, comm.remote_size); bad.failed())
    return bad;
  return comm.is_inter ? Error{} : Allgather::check(comm);
}

CollTask Allgather::algorithm(CollContext& exchange) const {
  const CallShape shape{.bytes = all_bytes(exchange.size()), .equal_blocks = receive.are_equal()};
  switch (exchange.choose(Family::allgather, shape)) {
    case Way::bruck:
      return allgather_bruck(exchange, *this);
    case Way::direct:
      return allgather_direct(exchange, *this);
    default:
      return allgather_ring(exchange, *this);
  }
}

Error allgather(const ConstData& send, const Data& receive, Comm& comm) {
  const int tag = next_tag(comm);
  Allgather call = allgather_call(send, receive);
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  const Count all = bytes_of(receive) * comm.size();
  if (device::ShmCollArea* coll_area =
          idle_area(comm, shm_area_for(comm, {Family::allgather, all}));
      coll_area != nullptr) {
    return allgather_on(*coll_area, call, comm);
  }
  return run_call(comm, tag, call);
}

Error iallgather(const ConstData& send, const Data& receive, Comm& comm, MPI_Request& request) {
  return start_on_area<AllgatherRounds>(comm, next_tag(comm), allgather_call(send, receive),
                                        request);
}

Error allgather_init(const ConstData& send, const Data& receive, Comm& comm, Info* /*info*/,
                     MPI_Request& request) {
  return keep_on_area<AllgatherRounds>(comm, next_persistent_tag(comm),
                                       allgather_call(send, receive), request);
}

Error allgatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                 const Datatype& type, Comm& comm) {
  const int tag = next_tag(comm);
  Allgatherv call = allgatherv_call(send, receive, counts, displs, type);
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  if (device::ShmCollArea* coll_area = idle_area(comm, area_for<AllgatherRounds>(comm, call));
      coll_area != nullptr) {
    return allgather_on(*coll_area, call, comm);
  }
  return run_call(comm, tag, call);
}

Error iallgatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                  const Datatype& type, Comm& comm, MPI_Request& request) {
  return start_on_area<AllgatherRounds>(
      comm, next_tag(comm), allgatherv_call(send, receive, counts, displs, type), request);
}

Error allgatherv_init(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                      const Datatype& type, Comm& comm, Info* /*info*/, MPI_Request& request) {
  return keep_on_area<AllgatherRounds>(comm, next_persistent_tag(comm),
                                       allgatherv_call(send, receive, counts, displs, type),
                                       request);
}

}  // namespace fulmar::mpi
