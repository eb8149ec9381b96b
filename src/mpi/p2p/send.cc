// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/p2p/calls.h"
#include "mpi/p2p/message.h"
#include "mpi/p2p/requests.h"
#include "mpi/p2p/send_now.h"

namespace fulmar::mpi {
namespace {

using device::SendMode;

[[gnu::noinline]] base::Error isend_slow(const ConstData& data, int dest, int tag, Comm& comm,
                                         SendMode mode, MPI_Request& out) {
  if (dest == MPI_PROC_NULL) return make_done_request(*comm.library, comm, out);
  Request* request = make_request(send_request, comm, data);
  if (request == nullptr) return no_request_memory();
  out = handle_cast<MPI_Request>(*request);
  device::Operation& operation = request->operation;
  operation.posted.key = comm.key_to(dest, tag);
  operation.buffer = buffer_of(data, request->packer);
  operation.mode = mode;
  comm.device->start_send(operation);
  poll_sometimes(*comm.device);
  return {};
}

}  // namespace

base::Error send_slow(const ConstData& data, int dest, int tag, Comm& comm, SendMode mode) {
  if (dest == MPI_PROC_NULL) return {};
  return send_message(comm, data, dest, tag, Channel::user, mode);
}

base::Error rsend(const ConstData& data, int dest, int tag, Comm& comm) {
  return send(data, dest, tag, comm);
}

base::Error ssend(const ConstData& data, int dest, int tag, Comm& comm) {
  return send_slow(data, dest, tag, comm, SendMode::synchronous);
}

base::Error isend(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& out) {
  if (send_at_once(data, dest, tag, comm)) [[likely]] {
    return make_done_request(*comm.library, comm, out);
  }
  return isend_slow(data, dest, tag, comm, SendMode::standard, out);
}

base::Error irsend(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& out) {
  return isend(data, dest, tag, comm, out);
}

base::Error issend(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& out) {
  return isend_slow(data, dest, tag, comm, SendMode::synchronous, out);
}

}  // namespace fulmar::mpi
