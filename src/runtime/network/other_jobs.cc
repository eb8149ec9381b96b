// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/other_jobs.h"

#include <algorithm>

#include "mpi/comm/failure.h"
#include "mpi/group/group.h"
#include "mpi/recovery/recovery.h"

namespace fulmar::runtime {

bool shares_comm_with(const mpi::Library& library, std::uint32_t peer) noexcept {
  return std::ranges::any_of(library.comms,
                             [&](const mpi::Comm* comm) { return mpi::includes(*comm, peer); });
}

namespace {

using Ids = fabric::ProcessTable::Ids;

bool holds_any(const mpi::Group& group, const Ids& ids) noexcept {
  for (int rank = 0; rank < group.size(); ++rank) {
    if (group.processes[rank] - ids.first < ids.size) return true;
  }
  return false;
}

/// Whether an object of the program has one of these processes.
bool is_referred_to(const mpi::Library& library, const Ids& ids) {
  for (std::uint32_t rank = 0; rank < ids.size; ++rank) {
    if (shares_comm_with(library, ids.first + rank)) return true;
  }
  if (library.recovery->holds_any(ids.first, ids.size)) return true;
  return library.any<mpi::Group>([&](const mpi::Group& group) { return holds_any(group, ids); });
}

/// Those that are forgotten before one that is not have no more than a name again.
bool forget(const mpi::Library& library, Networks& networks, const Ids& ids) {
  for (std::uint32_t peer = ids.first; peer < ids.first + ids.size; ++peer) {
    library.recovery->forget(peer);
    if (!networks.forget(peer) || !library.device->failures().forget(peer)) return false;
  }
  return true;
}

}  // namespace

void release_other_jobs(const mpi::Library& library, const Job& job, Networks& networks) {
  for (const std::uint32_t peer : networks.peers_of_other_jobs()) {
    if (!shares_comm_with(library, peer)) networks.disconnect(peer);
  }
  for (const Ids& ids : job.processes()->other_jobs()) {
    const bool is_unused = !is_referred_to(library, ids);
    if (is_unused && forget(library, networks, ids)) {
      job.processes()->remove_job(ids.job);
    }
  }
}

}  // namespace fulmar::runtime
