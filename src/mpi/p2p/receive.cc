// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/p2p/calls.h"
#include "mpi/p2p/message.h"
#include "mpi/p2p/requests.h"

namespace fulmar::mpi {

base::Error recv(const Data& data, int source, int tag, Comm& comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) [[unlikely]] {
    set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  return receive_message(comm, data, source, tag, Channel::user, status);
}

base::Error irecv(const Data& data, int source, int tag, Comm& comm, MPI_Request& out) {
  const ConstData buffer{data.address, data.count, data.type};
  Request* request = make_request(receive_request, comm, buffer);
  if (request == nullptr) return no_request_memory();
  out = handle_cast<MPI_Request>(*request);
  if (source == MPI_PROC_NULL) {
    request->what = &null_receive_request;
    request->operation.stage = device::Stage::done;
    return {};
  }
  request->operation.posted.key = comm.key_from(source, tag);
  request->operation.buffer = buffer_of(buffer, request->packer);
  comm.device->start_receive(request->operation);
  return {};
}

}  // namespace fulmar::mpi
