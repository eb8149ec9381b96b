// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/comm.h"

#include "mpi/comm/world.h"
#include "mpi/group/group.h"

namespace fulmar::mpi {

namespace {

/// The context, or the tag, may be that of another communicator later.
void mend_receives(const Comm& comm) noexcept {
  device::Failures& failures = comm.device->failures();
  if (comm.call_tag != Comm::no_tag) return failures.mend_call(comm.context, comm.call_tag);
  for (std::uint32_t bits = 0; bits < ContextIds::step; ++bits) failures.mend(comm.context | bits);
}

}  // namespace

Comm::Comm(Library& owner) noexcept
    : ErrorHolder(object_kind), library(&owner), place(owner.comms.size()) {
  owner.comms.push_back(this);
}

Comm::~Comm() {
  if (recovery != nullptr) end_recovery(*recovery);
  if (revoked) library->forget_hidden(*this);
  library->comms.back()->place = place;
  library->comms[place] = library->comms.back();
  library->comms.pop_back();
  if (group != nullptr) library->release(*group);
  if (remote_group != nullptr) library->release(*remote_group);
  if (local_comm != nullptr) library->give_back(*local_comm);
  drop_errhandler(*library, *this);
  if (send_buffer != nullptr) abandon_buffer(*send_buffer);
  if (coll_area != nullptr) device->coll_areas().give_back(*coll_area);
  if (failed_coll_area != nullptr) device->coll_areas().give_back(*failed_coll_area);
  if (device != nullptr && (revoked || failed_process != none_failed)) mend_receives(*this);
  if (numbered) library->world->contexts.give_back(context);
}

}  // namespace fulmar::mpi
