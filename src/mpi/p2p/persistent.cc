// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/p2p/buffered.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/requests.h"

namespace fulmar::mpi {
namespace {

using device::SendMode;

Request* make_persistent(const RequestKind& kind, Comm& comm, const ConstData& data,
                         MPI_Request& out) {
  Request* request = make_request(kind, comm, data);
  if (request == nullptr) return nullptr;
  request->persistent = true;
  request->active = false;
  request->operation.buffer = buffer_of(data, request->packer);
  out = handle_cast<MPI_Request>(*request);
  return request;
}

base::Error init_send(const RequestKind& kind, const ConstData& data, int dest, int tag, Comm& comm,
                      SendMode mode, MPI_Request& out) {
  const bool to_proc_null = dest == MPI_PROC_NULL;
  Request* request =
      make_persistent(to_proc_null ? persistent_null_send_request : kind, comm, data, out);
  if (request == nullptr) return no_request_memory();
  request->operation.mode = mode;
  if (!to_proc_null) request->operation.posted.key = comm.key_to(dest, tag);
  return {};
}

}  // namespace

base::Error send_init(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request) {
  return init_send(persistent_send_request, data, dest, tag, comm, SendMode::standard, request);
}

base::Error ssend_init(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request) {
  return init_send(persistent_send_request, data, dest, tag, comm, SendMode::synchronous, request);
}

base::Error rsend_init(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request) {
  return send_init(data, dest, tag, comm, request);
}

base::Error bsend_init(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request) {
  return init_send(persistent_buffered_request, data, dest, tag, comm, SendMode::standard, request);
}

base::Error recv_init(const Data& data, int source, int tag, Comm& comm, MPI_Request& out) {
  const bool from_proc_null = source == MPI_PROC_NULL;
  Request* request =
      make_persistent(from_proc_null ? persistent_null_receive_request : persistent_receive_request,
                      comm, {data.address, data.count, data.type}, out);
  if (request == nullptr) return no_request_memory();
  if (!from_proc_null) request->operation.posted.key = comm.key_from(source, tag);
  return {};
}

}  // namespace fulmar::mpi
