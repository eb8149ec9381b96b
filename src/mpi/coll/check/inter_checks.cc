// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/operations.h"
#include "mpi/op/op.h"

/// Argument checks between groups: MPI_IN_PLACE is not allowed there, and arrays
/// have an entry for each process of the other group.
namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;

namespace {

Error refuse_any_in_place(const char* argument, const void* address) {
  return refuse_in_place(argument, address, "on intracommunicators");
}

struct ArgumentNames {
  const char* counts;
  const char* buffer;
};
Error check_array(const ArgumentNames& names, const Blocks& blocks, int ranks) {
  if (const Error bad = check_counts(names.counts, blocks.counts, ranks); bad.failed()) return bad;
  if (const Error bad = check_displs("displs", blocks.displs); bad.failed()) return bad;
  return check_blocks(names.buffer, blocks, ranks);
}

Error check_buffers(const void* send, const void* receive, Count count, const Datatype& type) {
  if (const Error bad = refuse_any_in_place("sendbuf", send); bad.failed()) return bad;
  if (const Error bad = check_buffer("sendbuf", send, count, type); bad.failed()) return bad;
  return check_buffer("recvbuf", receive, count, type);
}

Error refuse_scan() {
  return base::failure(ErrorClass::comm,
                       "argument comm: scans are not defined on intercommunicators; merge it first "
                       "(MPI_Intercomm_merge)");
}

}  // namespace

Error Gather::inter_check(const Comm& /*comm*/) const {
  return refuse_any_in_place("sendbuf", send.address);
}

Error Gatherv::inter_check(const Comm& comm) const {
  if (root != MPI_ROOT) return Gather::inter_check(comm);
  return check_array({"recvcounts", "recvbuf"}, receive, comm.remote_size);
}

Error Scatter::inter_check(const Comm& /*comm*/) const {
  return refuse_any_in_place("recvbuf", receive.address);
}

Error Scatterv::inter_check(const Comm& comm) const {
  if (root != MPI_ROOT) return Scatter::inter_check(comm);
  return check_array({"sendcounts", "sendbuf"}, send, comm.remote_size);
}

Error Allgather::inter_check(const Comm& /*comm*/) const {
  return refuse_any_in_place("sendbuf", send.address);
}

Error Allgatherv::inter_check(const Comm& comm) const {
  const Error bad = Allgather::inter_check(comm);
  return bad.failed() ? bad : check(comm);
}

Error Alltoall::inter_check(const Comm& /*comm*/) const {
  return refuse_any_in_place("sendbuf", send.address);
}

Error Alltoallv::inter_check(const Comm& comm) const {
  const Error bad = Alltoall::inter_check(comm);
  return bad.failed() ? bad : check(comm);
}

Error Alltoallw::inter_check(const Comm& comm) {
  const Error bad = Alltoall::inter_check(comm);
  return bad.failed() ? bad : check(comm);
}

Error Reduce::inter_check(const Comm& /*comm*/) const {
  if (root == MPI_PROC_NULL) return {};
  if (const Error bad = check_reduction(*op, *type, count); bad.failed()) return bad;
  if (root == MPI_ROOT) return check_buffer("recvbuf", receive, count, *type);
  if (const Error bad = refuse_any_in_place("sendbuf", send); bad.failed()) return bad;
  return check_buffer("sendbuf", send, count, *type);
}

Error Allreduce::inter_check(const Comm& /*comm*/) const {
  if (const Error bad = check_reduction(*op, *receive.type, receive.count); bad.failed())
    return bad;
  return check_buffers(send, receive.address, receive.count, *receive.type);
}

Error Scan::inter_check(const Comm& /*comm*/) { return refuse_scan(); }
Error Exscan::inter_check(const Comm& /*comm*/) { return refuse_scan(); }

Error ReduceScatter::inter_check(const Comm& comm) const {
  if (!counts.is_null()) {
    const Error bad = check_counts("recvcounts", counts, comm.size());
    if (bad.failed()) return bad;
  }
  if (const Error bad = check_reduction(*op, *type); bad.failed()) return bad;
  return check_buffers(send, receive, count_of(comm.rank), *type);
}

}  // namespace fulmar::mpi
