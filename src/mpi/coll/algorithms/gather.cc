// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/operations.h"
#include "mpi/coll/shm/shm_movement.h"
#include "mpi/coll/shm/shm_start.h"

/// On a collective area (shm_movement.cc), or every rank sends to the root, which receives into
/// place: n - 1 messages, no copies between.
namespace fulmar::mpi {

using base::Error;

namespace {

constexpr int blocks_at_once = 64;

CollTask gather_direct(CollContext& exchange, const Gather& call) {
  const int self = exchange.rank();
  if (self != call.root) {
    co_await exchange.send(call.send, call.root);
    co_return;
  }
  Transfers transfers(exchange, std::min(blocks_at_once, exchange.size()));
  for (int rank = 0; rank < exchange.size(); ++rank) {
    if (rank == self) continue;
    if (transfers.full()) co_await transfers.wait();
    transfers.receive(call.receive[rank], rank);
  }
  if (!is_in_place(call.send.address)) exchange.note(copy_data(call.send, call.receive[self]));
  co_await transfers.wait();
}

Gather gather_call(const ConstData& send, const Data& receive, int root) {
  return {send, Blocks::equal(receive), root};
}

}  // namespace

Error Gather::check(const Comm& comm) const {
  if (comm.rank == root) return refuse_same(send, receive[root]);
  return refuse_in_place("sendbuf", send.address, "at the root");
}

Error Gatherv::check(const Comm& comm) const {
  if (comm.rank != root) return Gather::check(comm);
  if (const Error bad = check_counts("recvcounts", receive.counts, comm.size()); bad.failed()) {
    return bad;
  }
  if (const Error bad = check_displs("displs", receive.displs); bad.failed()) return bad;
  if (const Error bad = check_blocks("recvbuf", receive, comm.size()); bad.failed()) return bad;
  return Gather::check(comm);
}

void Gatherv::add_counts(const Comm& comm, CountCheck& count_check) const {
  const bool in_place = is_in_place(send.address);
  if (!in_place) count_check.give(root, send);
  if (comm.rank != root) return;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank != root || !in_place) count_check.expect(rank, receive[rank]);
  }
}

CollTask Gather::algorithm(CollContext& exchange) const {
  const bool at_root = exchange.rank() == root;
  const CallShape shape{.bytes = at_root ? bytes_of(receive[root]) : bytes_of(send)};
  return exchange.choose(Family::gather, shape) == Way::binomial ? gather_binomial(exchange, *this)
                                                                 : gather_direct(exchange, *this);
}

CollTask Gatherv::algorithm(CollContext& exchange) const { return gather_direct(exchange, *this); }

Error gather(const ConstData& send, const Data& receive, int root, Comm& comm) {
  const int tag = next_tag(comm);
  Gather call = gather_call(send, receive, root);
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  const bool at_root = comm.rank == root;
  const Count bytes = at_root ? bytes_of(receive) : bytes_of(send);
  device::ShmCollArea* coll_area = idle_area(comm, area_for<GatherRounds>(comm, call));
  if (coll_area != nullptr) {
    return reads_memory(comm, Family::gather, bytes) ? gather_write(*coll_area, call, comm)
                                                     : gather_on(*coll_area, call, comm);
  }
  if (const Error differ = compare_long_blocks(comm, Family::gather, bytes); differ.failed()) {
    return differ;
  }
  return run_call(comm, tag, call);
}

Error igather(const ConstData& send, const Data& receive, int root, Comm& comm,
              MPI_Request& request) {
  const int tag = next_tag(comm);
  const Gather call = gather_call(send, receive, root);
  // Without staging long blocks go by messages, and short ones of other ranks would not: see
  // compare_long_blocks.
  if (comm.coll_area == nullptr || !is_staged(*comm.coll_area)) {
    return start_call(comm, tag, call, request);
  }
  return start_on_area<GatherRounds>(comm, tag, call, request);
}

Error gather_init(const ConstData& send, const Data& receive, int root, Comm& comm, Info* /*info*/,
                  MPI_Request& request) {
  return keep_on_area<GatherRounds>(comm, next_persistent_tag(comm),
                                    gather_call(send, receive, root), request);
}

namespace {

Gatherv gatherv_call(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                     const Datatype* type, int root) {
  return {{send, Blocks::various(receive, counts, displs, type), root}};
}

}  // namespace

Error gatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
              const Datatype* type, int root, Comm& comm) {
  const int tag = next_tag(comm);
  Gatherv call = gatherv_call(send, receive, counts, displs, type, root);
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  if (device::ShmCollArea* area = idle_area(comm, area_for<GathervRounds>(comm, call));
      area != nullptr) {
    GathervRounds rounds(*area, call, comm);
    return run_various(rounds, comm, tag);
  }
  return run_call(comm, tag, call);
}

Error igatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
               const Datatype* type, int root, Comm& comm, MPI_Request& request) {
  return start_on_area<GathervRounds>(
      comm, next_tag(comm), gatherv_call(send, receive, counts, displs, type, root), request);
}

Error gatherv_init(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                   const Datatype* type, int root, Comm& comm, Info* /*info*/,
                   MPI_Request& request) {
  return keep_on_area<GathervRounds>(comm, next_persistent_tag(comm),
                                     gatherv_call(send, receive, counts, displs, type, root),
                                     request);
}

}  // namespace fulmar::mpi
