// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/failure.h"

#include <vector>

#include "mpi/coll/engine/schedules.h"
#include "mpi/comm/failure.h"
#include "mpi/comm/world.h"
#include "mpi/library.h"

namespace fulmar::mpi {
namespace {

using device::Failures;
using device::ReceivesEnded;

/// No collective call of the communicator can be completed any more.
void end_collective_calls(Comm& comm, std::uint32_t process, base::Error error) {
  Failures& failures = comm.device->failures();
  failures.end_receives(comm.context | Comm::collective_bit, ReceivesEnded::all, process);
  comm.library->schedules->abandon(comm, error);
}

void end_areas(Comm& comm) {
  comm.library->schedules->area_queues().fail_areas(comm);
  if (comm.coll_area == nullptr) return;
  comm.coll_area->fail();
  comm.failed_coll_area = std::move(comm.coll_area);
}

void break_comm(Comm& comm, std::uint32_t process) {
  if (comm.failed_process == Comm::none_failed) comm.failed_process = process;
  end_areas(comm);
  const base::Error error = process_error(comm, process);
  Failures& failures = comm.device->failures();
  if (comm.call_tag != Comm::no_tag) {
    failures.end_receives_of_call(comm.context, comm.call_tag, process);
    return comm.library->schedules->abandon(comm, error);
  }
  if (!is_acknowledged(comm, process)) {
    failures.end_receives(comm.context, ReceivesEnded::any_source, process);
  }
  end_collective_calls(comm, process, error);
  if (comm.local_comm != nullptr) end_collective_calls(*comm.local_comm, process, error);
}

}  // namespace

void process_failed(Library& library, std::uint32_t process) {
  // Calls that end here may free communicators and make others.
  const std::vector<Comm*> comms = library.comms;
  for (Comm* comm : comms) library.acquire(*comm);
  for (Comm* comm : comms) {
    if (comm->device != nullptr && includes(*comm, process)) break_comm(*comm, process);
  }
  for (Comm* comm : comms) library.release(*comm);
}

void revoke_collective_calls(Comm& comm) {
  end_areas(comm);
  const base::Error error = revoked_error(comm);
  Schedules& schedules = *comm.library->schedules;
  schedules.abandon_revoked(comm, error);
  if (comm.local_comm != nullptr) schedules.abandon_revoked(*comm.local_comm, error);
}

void note_failed_members(Comm& comm) {
  for (const Failures::Failed& each : comm.device->failures().list()) {
    if (includes(comm, each.peer)) break_comm(comm, each.peer);
  }
}

}  // namespace fulmar::mpi
