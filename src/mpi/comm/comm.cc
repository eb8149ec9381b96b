// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/comm.h"

#include "mpi/comm/world.h"
#include "mpi/group/group.h"

namespace fulmar::mpi {

Comm::~Comm() {
  if (group != nullptr) library->release(*group);
  if (remote_group != nullptr) library->release(*remote_group);
  if (local_comm != nullptr) library->give_back(*local_comm);
  drop_errhandler(*library, *this);
  if (send_buffer != nullptr) abandon_buffer(*send_buffer);
  if (board != nullptr) device->boards().give_back(*board);
  if (numbered) library->world->contexts.give_back(context);
}

}  // namespace fulmar::mpi
