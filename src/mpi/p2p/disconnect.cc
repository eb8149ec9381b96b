// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/calls.h"
#include "mpi/p2p/buffered.h"
#include "mpi/p2p/calls.h"

namespace fulmar::mpi {
namespace {

bool under_way(const Library& library, const Comm& comm) noexcept {
  if (comm.abandoned_requests != 0) return true;
  if (comm.send_buffer != nullptr && !comm.send_buffer->idle()) return true;
  return library.any<Request>([&](const Request& request) {
    return request.comm == &comm && request.active && !request.complete();
  });
}

}  // namespace

base::Error comm_disconnect(Library& library, Handle<Comm> comm) {
  const Comm& object = *comm.object;
  if (!object.predefined) {
    object.device->wait([&]() noexcept { return !under_way(library, object); });
  }
  return comm_free(library, comm);
}

}  // namespace fulmar::mpi
