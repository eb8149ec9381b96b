// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/shm/shm_movement.h"
#include "mpi/coll/shm/shm_start.h"

/// On a collective area (shm_movement.cc, shm_reads.cc), or the root sends each rank its block: n -
/// 1 messages, no copies between.
namespace fulmar::mpi {

using base::Error;

CollTask scatter_direct(CollContext& exchange, const Scatter& call) {
  const int self = exchange.rank();
  if (self != call.root) {
    co_await exchange.receive(call.receive, call.root);
    co_return;
  }
  constexpr int at_once = 64;
  Transfers transfers(exchange, std::min(at_once, exchange.size()));
  for (int rank = 0; rank < exchange.size(); ++rank) {
    if (rank == self) continue;
    if (transfers.full()) co_await transfers.wait();
    transfers.send(call.send.to(rank), rank);
  }
  if (!is_in_place(call.receive.address)) {
    exchange.note(copy_data(call.send.to(self), call.receive));
  }
  co_await transfers.wait();
}

namespace {

Scatter scatter_call(const ConstData& send, const Data& receive, int root) {
  return {Blocks::equal(send), receive, root};
}

Scatterv scatterv_call(const void* send, CountArray counts, CountArray displs, const Datatype* type,
                       const Data& receive, int root) {
  return {{Blocks::various(send, counts, displs, type), receive, root}};
}

}  // namespace

Error Scatter::check(const Comm& comm) const {
  if (comm.rank == root) return refuse_same(send.to(root), receive);
  return refuse_in_place("recvbuf", receive.address, "at the root");
}

Error Scatterv::check(const Comm& comm) const {
  if (comm.rank != root) return Scatter::check(comm);
  if (const Error bad = check_counts("sendcounts", send.counts, comm.size()); bad.failed()) {
    return bad;
  }
  if (const Error bad = check_displs("displs", send.displs); bad.failed()) return bad;
  if (const Error bad = check_blocks("sendbuf", send, comm.size()); bad.failed()) return bad;
  return Scatter::check(comm);
}

void Scatterv::add_counts(const Comm& comm, CountCheck& count_check) const {
  const bool in_place = is_in_place(receive.address);
  if (!in_place) count_check.expect(root, receive);
  if (comm.rank != root) return;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank != root || !in_place) count_check.give(rank, send.to(rank));
  }
}

CollTask Scatter::algorithm(CollContext& exchange) const {
  const bool at_root = exchange.rank() == root;
  const CallShape shape{.bytes = bytes_of(at_root ? send[root] : receive)};
  return exchange.choose(Family::scatter, shape) == Way::binomial
             ? scatter_binomial(exchange, *this)
             : scatter_direct(exchange, *this);
}

CollTask Scatterv::algorithm(CollContext& exchange) const {
  return scatter_direct(exchange, *this);
}

Error scatter(const ConstData& send, const Data& receive, int root, Comm& comm) {
  const int tag = next_tag(comm);
  Scatter call = scatter_call(send, receive, root);
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  const bool at_root = comm.rank == root;
  const Count bytes = at_root ? bytes_of(send) : bytes_of(receive);
  device::ShmCollArea* coll_area = idle_area(comm, area_for<ScatterRounds>(comm, call));
  const bool reads = reads_memory(comm, Family::scatter, bytes);
  if (coll_area != nullptr) {
    return reads ? scatter_read(*coll_area, call, comm) : scatter_on(*coll_area, call, comm);
  }
  return run_call(comm, tag, call);
}

Error iscatter(const ConstData& send, const Data& receive, int root, Comm& comm,
               MPI_Request& request) {
  return start_on_area<ScatterRounds>(comm, next_tag(comm), scatter_call(send, receive, root),
                                      request);
}

Error scatter_init(const ConstData& send, const Data& receive, int root, Comm& comm, Info* /*info*/,
                   MPI_Request& request) {
  return keep_on_area<ScatterRounds>(comm, next_persistent_tag(comm),
                                     scatter_call(send, receive, root), request);
}

Error scatterv(const void* send, CountArray counts, CountArray displs, const Datatype* type,
               const Data& receive, int root, Comm& comm) {
  const int tag = next_tag(comm);
  Scatterv call = scatterv_call(send, counts, displs, type, receive, root);
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  if (device::ShmCollArea* area = idle_area(comm, area_for<ScattervRounds>(comm, call));
      area != nullptr) {
    ScattervRounds rounds(*area, call, comm);
    return run_various(rounds, comm, tag);
  }
  return run_call(comm, tag, call);
}

Error iscatterv(const void* send, CountArray counts, CountArray displs, const Datatype* type,
                const Data& receive, int root, Comm& comm, MPI_Request& request) {
  return start_on_area<ScattervRounds>(
      comm, next_tag(comm), scatterv_call(send, counts, displs, type, receive, root), request);
}

Error scatterv_init(const void* send, CountArray counts, CountArray displs, const Datatype* type,
                    const Data& receive, int root, Comm& comm, Info* /*info*/,
                    MPI_Request& request) {
  return keep_on_area<ScattervRounds>(comm, next_persistent_tag(comm),
                                      scatterv_call(send, counts, displs, type, receive, root),
                                      request);
}

}  // namespace fulmar::mpi
