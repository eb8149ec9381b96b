// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/jobs.h"

#include "mpi/comm/world.h"

namespace fulmar::mpi {

bool spans_jobs(const Comm& comm) noexcept {
  const std::uint32_t own = comm.library->world->processes;
  if (comm.device->processes().size() == own) return false;  // no other job is known
  if (comm.routes.highest_process() >= own) return true;
  return comm.local_comm != nullptr && spans_jobs(*comm.local_comm);
}

}  // namespace fulmar::mpi
