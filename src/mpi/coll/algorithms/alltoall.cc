// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/shm/shm_movement.h"
#include "mpi/coll/shm/shm_start.h"
#include "mpi/datatype/view.h"

/// On a collective area (shm_movement.cc, shm_reads.cc), or every rank sends to each other one
/// directly, first to its next neighbour, then to the one after, so that nobody is everybody's
/// target at once; a window of messages is under way at a time. In place the outgoing blocks are
/// packed into memory of their own first.
namespace fulmar::mpi {

using base::Error;

namespace {

constexpr int window = 32;

/// All blocks but the own one; `to` are the blocks to send.
CollTask exchange_blocks(CollContext& exchange, const Blocks& to, const Blocks& from) {
  Transfers transfers(exchange, 2 * std::min(window, exchange.size()));
  for (int step = 1; step < exchange.size(); ++step) {
    const int source = exchange.neighbour(-step);
    const int dest = exchange.neighbour(step);
    if (transfers.full()) co_await transfers.wait();
    transfers.receive(from[source], source);
    transfers.send(to.to(dest), dest);
  }
  co_await transfers.wait();
}

CollTask alltoall_pairwise(CollContext& exchange, const Alltoall& call) {
  const int self = exchange.rank();
  exchange.note(copy_data(call.send.to(self), call.receive[self]));
  co_await exchange_blocks(exchange, call.send, call.receive);
}

/// What is to be sent, packed, with the numbers that describe it as a v-form.
struct PackedBlocks {
  std::vector<Count> counts;
  std::vector<Count> displs;
  Scratch memory;

  PackedBlocks(CollContext& exchange, const Blocks& from)
      : memory(exchange.byte_type(), measure(exchange, from)) {
    auto* at = static_cast<std::byte*>(memory.address());
    for (int rank = 0; rank < exchange.size() && !memory.failed(); ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      const Data block = from[rank];
      const std::span<std::byte> packed(at + displs[i], static_cast<std::size_t>(counts[i]));
      View(*block.type, block.count).pack(block.address, 0, packed);
    }
  }

 private:
  Count measure(const CollContext& exchange, const Blocks& from) {
    Count total = 0;
    for (int rank = 0; rank < exchange.size(); ++rank) {
      counts.push_back(rank == exchange.rank() ? 0 : bytes_of(from[rank]));
      displs.push_back(total);
      total += counts.back();
    }
    return total;
  }
};

CollTask alltoall_in_place(CollContext& exchange, const Alltoall& call) {
  const PackedBlocks packed(exchange, call.receive);
  if (packed.memory.failed()) {
    exchange.note(packed.memory.error());
    co_return;
  }
  const Blocks to =
      Blocks::various(packed.memory.address(), {packed.counts.data(), packed.counts.size()},
                      {packed.displs.data(), packed.displs.size()}, &exchange.byte_type());
  co_await exchange_blocks(exchange, to, call.receive);
}

/// One array of datatypes of MPI_Alltoallw, looked up and checked. Those of blocks without elements
/// may be anything, as in MPICH.
Error find_types(Library& library, const char* argument, const MPI_Datatype* handles,
                 CountArray counts, int ranks, std::vector<const Datatype*>& types) {
  if (handles == nullptr) {
    return base::failure(base::ErrorClass::arg,
                         "argument %s: null pointer; give one datatype for each rank", argument);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const auto* type = library.find<Datatype>(handles[rank]);
    const bool usable = type != nullptr && type->committed;
    if (!usable && counts[static_cast<std::size_t>(rank)] > 0) {
      return base::failure(base::ErrorClass::type, "argument %s: entry %d is %s", argument, rank,
                           type == nullptr ? "no datatype" : "not committed");
    }
    types.push_back(usable ? type : library.find<Datatype>(MPI_BYTE));
  }
  return {};
}

/// The counts and displacements of the blocks of one side.
Error check_arrays(const char* counts_name, const char* displs_name, const Blocks& blocks,
                   int ranks) {
  if (const Error bad = check_counts(counts_name, blocks.counts, ranks); bad.failed()) return bad;
  return check_displs(displs_name, blocks.displs);
}

}  // namespace

Error Alltoall::check_same(int ranks) const {
  if (send.in_place()) return {};
  for (int rank = 0; rank < ranks; ++rank) {
    if (const Error bad = refuse_same(send.to(rank), receive[rank]); bad.failed()) return bad;
  }
  return {};
}

Error Alltoallv::check(const Comm& comm) const {
  const int n = comm.remote_size;
  Error bad = check_arrays("recvcounts", "rdispls", receive, n);
  if (bad.ok()) bad = check_blocks("recvbuf", receive, n);
  if (bad.failed() || send.in_place()) return bad;
  bad = check_arrays("sendcounts", "sdispls", send, n);
  if (bad.ok()) bad = check_blocks("sendbuf", send, n);
  return bad.failed() ? bad : check_same(n);
}

Error Alltoallw::check(const Comm& comm) {
  const int n = comm.remote_size;
  Library& library = *comm.library;
  Error bad = check_arrays("recvcounts", "rdispls", receive, n);
  const bool sends = !send.in_place();
  if (sends && bad.ok()) bad = check_arrays("sendcounts", "sdispls", send, n);
  if (sends && bad.ok()) {
    bad = find_types(library, "sendtypes", send_handles, send.counts, n, types);
  }
  if (bad.ok()) bad = find_types(library, "recvtypes", receive_handles, receive.counts, n, types);
  if (bad.failed()) return bad;
  send.types = types.data();
  receive.types = types.data() + (sends ? n : 0);
  if (sends) bad = check_blocks("sendbuf", send, n);
  if (bad.ok()) bad = check_blocks("recvbuf", receive, n);
  return bad.failed() ? bad : check_same(n);
}

void Alltoall::add_counts_of_all(const Comm& comm, CountCheck& count_check) const {
  const Blocks& given = send.in_place() ? receive : send;
  for (int rank = 0; rank < comm.remote_size; ++rank) {
    count_check.give(rank, given.to(rank));
    count_check.expect(rank, receive[rank]);
  }
}

CollTask Alltoall::algorithm(CollContext& exchange) const {
  if (receive.are_equal()) {
    const Way way = exchange.choose(Family::alltoall, {.bytes = bytes_of(receive[0])});
    if (way == Way::bruck) return alltoall_bruck(exchange, *this);
  }
  return send.in_place() ? alltoall_in_place(exchange, *this) : alltoall_pairwise(exchange, *this);
}

namespace {

Alltoall alltoall_call(const ConstData& send, const Data& receive) {
  return {Blocks::equal(send), Blocks::equal(receive)};
}

}  // namespace

Error alltoall(const ConstData& send, const Data& receive, Comm& comm) {
  const int tag = next_tag(comm);
  Alltoall call = alltoall_call(send, receive);
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  if (device::ShmCollArea* coll_area = idle_area(comm, area_for<AlltoallRounds>(comm, call));
      coll_area != nullptr) {
    return reads_memory(comm, Family::alltoall, bytes_of(receive))
               ? alltoall_read(*coll_area, call, comm)
               : alltoall_on(*coll_area, call, comm);
  }
  return run_call(comm, tag, call);
}

Error ialltoall(const ConstData& send, const Data& receive, Comm& comm, MPI_Request& request) {
  return start_on_area<AlltoallRounds>(comm, next_tag(comm), alltoall_call(send, receive), request);
}

Error alltoall_init(const ConstData& send, const Data& receive, Comm& comm, Info* /*info*/,
                    MPI_Request& request) {
  return keep_on_area<AlltoallRounds>(comm, next_persistent_tag(comm), alltoall_call(send, receive),
                                      request);
}

namespace {

template <class Call>
Error run_various_alltoall(Comm& comm, int tag, const Call& call) {
  if (device::ShmCollArea* area = idle_area(comm, area_for<AlltoallvRounds>(comm, call));
      area != nullptr) {
    AlltoallvRounds rounds(*area, call, comm);
    return run_various(rounds, comm, tag);
  }
  return run_call(comm, tag, call);
}

}  // namespace

Error alltoallv(const void* send, CountArray send_counts, CountArray send_displs,
                const Datatype* send_type, void* receive, CountArray receive_counts,
                CountArray receive_displs, const Datatype& receive_type, Comm& comm) {
  const int tag = next_tag(comm);
  Alltoallv call{{Blocks::various(send, send_counts, send_displs, send_type),
                  Blocks::various(receive, receive_counts, receive_displs, &receive_type)}};
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  return run_various_alltoall(comm, tag, call);
}

Error ialltoallv(const void* send, CountArray send_counts, CountArray send_displs,
                 const Datatype* send_type, void* receive, CountArray receive_counts,
                 CountArray receive_displs, const Datatype& receive_type, Comm& comm,
                 MPI_Request& request) {
  const Alltoallv call{{Blocks::various(send, send_counts, send_displs, send_type),
                        Blocks::various(receive, receive_counts, receive_displs, &receive_type)}};
  return start_on_area<AlltoallvRounds>(comm, next_tag(comm), call, request);
}

Error alltoallv_init(const void* send, CountArray send_counts, CountArray send_displs,
                     const Datatype* send_type, void* receive, CountArray receive_counts,
                     CountArray receive_displs, const Datatype& receive_type, Comm& comm,
                     Info* /*info*/, MPI_Request& request) {
  const Alltoallv call{{Blocks::various(send, send_counts, send_displs, send_type),
                        Blocks::various(receive, receive_counts, receive_displs, &receive_type)}};
  return keep_on_area<AlltoallvRounds>(comm, next_persistent_tag(comm), call, request);
}

namespace {

Alltoallw alltoallw_call(const void* send, CountArray send_counts, CountArray send_displs,
                         const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                         CountArray receive_displs, const MPI_Datatype* receive_types) {
  return {{Blocks::various(send, send_counts, send_displs, nullptr),
           Blocks::various(receive, receive_counts, receive_displs, nullptr)},
          send_types,
          receive_types,
          {}};
}

}  // namespace

Error alltoallw(const void* send, CountArray send_counts, CountArray send_displs,
                const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                CountArray receive_displs, const MPI_Datatype* receive_types, Comm& comm) {
  const int tag = next_tag(comm);
  Alltoallw call = alltoallw_call(send, send_counts, send_displs, send_types, receive,
                                  receive_counts, receive_displs, receive_types);
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  return run_various_alltoall(comm, tag, call);
}

Error ialltoallw(const void* send, CountArray send_counts, CountArray send_displs,
                 const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                 CountArray receive_displs, const MPI_Datatype* receive_types, Comm& comm,
                 MPI_Request& request) {
  return start_on_area<AlltoallvRounds>(
      comm, next_tag(comm),
      alltoallw_call(send, send_counts, send_displs, send_types, receive, receive_counts,
                     receive_displs, receive_types),
      request);
}

Error alltoallw_init(const void* send, CountArray send_counts, CountArray send_displs,
                     const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                     CountArray receive_displs, const MPI_Datatype* receive_types, Comm& comm,
                     Info* /*info*/, MPI_Request& request) {
  return keep_on_area<AlltoallvRounds>(
      comm, next_persistent_tag(comm),
      alltoallw_call(send, send_counts, send_displs, send_types, receive, receive_counts,
                     receive_displs, receive_types),
      request);
}

}  // namespace fulmar::mpi
