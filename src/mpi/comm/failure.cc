// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/failure.h"

namespace fulmar::mpi {
namespace {

/// -1: not among those that messages can name.
int rank_in_routes(const Comm& comm, std::uint32_t process) noexcept {
  for (int rank = 0; rank < comm.routes.size(); ++rank) {
    if (comm.routes[rank].peer == process) return rank;
  }
  return -1;
}

}  // namespace

bool includes(const Comm& comm, std::uint32_t process) noexcept {
  return rank_in_routes(comm, process) >= 0 ||
         (comm.local_comm != nullptr && rank_in_routes(*comm.local_comm, process) >= 0);
}

base::Error process_error(const Comm& comm, std::uint32_t process) {
  const std::string* why = comm.device->failures().why(process);
  const char* const reason = why == nullptr ? "the process has failed" : why->c_str();
  int rank = rank_in_routes(comm, process);
  const char* group = comm.is_inter ? " of the remote group" : "";
  if (rank < 0 && comm.local_comm != nullptr) {
    rank = rank_in_routes(*comm.local_comm, process);
    group = " of the local group";
  }
  return base::failure(base::ErrorClass::proc_failed, "rank %d%s has failed: %s", rank, group,
                       reason);
}

base::Error operation_error(const Comm& comm, const device::Operation& operation) {
  if (operation.outcome.error != base::ErrorClass::proc_failed) {
    return base::Error(operation.outcome.error);
  }
  return process_error(comm, operation.outcome.peer);
}

}  // namespace fulmar::mpi
