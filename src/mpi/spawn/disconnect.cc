// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/calls.h"
#include "mpi/comm/calls.h"
#include "mpi/comm/jobs.h"
#include "mpi/p2p/buffered.h"
#include "mpi/request/request.h"
#include "mpi/spawn/calls.h"
#include "mpi/spawn/port_service.h"

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
  Comm& object = *comm.object;
  if (!object.predefined) {
    object.device->wait([&]() noexcept { return !under_way(library, object); });
    // All that was sent to this process is here when the others have come, too. Those that have failed
    // are not waited for: their connections are gone.
    if (spans_jobs(object)) (void)barrier(object);
  }
  base::Error error = comm_free(library, comm);
  if (library.ports != nullptr) library.ports->release();
  return error;
}

}  // namespace fulmar::mpi
