// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/failure.h"

#include <algorithm>
#include <cstddef>

namespace fulmar::mpi {
bool includes(const Comm& comm, std::uint32_t process) noexcept {
  return comm.routes.find(process) >= 0 ||
         (comm.local_comm != nullptr && comm.local_comm->routes.find(process) >= 0);
}

base::Error process_error(const Comm& comm, std::uint32_t process) {
  const std::string* why = comm.device->failures().why(process);
  const char* const reason = why == nullptr ? "the process has failed" : why->c_str();
  int rank = comm.routes.find(process);
  const char* group = comm.is_inter ? " of the remote group" : "";
  if (rank < 0 && comm.local_comm != nullptr) {
    rank = comm.local_comm->routes.find(process);
    group = " of the local group";
  }
  return base::failure(base::ErrorClass::proc_failed, "rank %d%s has failed: %s", rank, group,
                       reason);
}

base::Error revoked_error(const Comm& comm) {
  const bool named = comm.name != nullptr && *comm.name != '\0';
  return base::failure(base::ErrorClass::revoked,
                       "communicator %s was revoked by one of its processes; only "
                       "MPIX_Comm_agree, MPIX_Comm_shrink and local calls work on it",
                       named ? comm.name : "(no name)");
}

base::Error failure_of(const Comm& comm) {
  if (comm.revoked) return revoked_error(comm);
  return comm.failed_process == Comm::none_failed
             ? base::Error{}
             : process_error(comm, static_cast<std::uint32_t>(comm.failed_process));
}

void await_known_failures(const Comm& comm) {
  const device::Failures& failures = comm.device->failures();
  if (failures.pending()) comm.device->wait([&]() noexcept { return !failures.pending(); });
}

base::Error obstacle_error(const Comm& comm, const device::Failures::Obstacle& obstacle) {
  return obstacle.error == base::ErrorClass::revoked ? revoked_error(comm)
                                                     : process_error(comm, obstacle.peer);
}

std::vector<std::uint32_t> failed_members(const Comm& comm) {
  std::vector<std::uint32_t> members;
  if (comm.device == nullptr) return members;
  for (const device::Failures::Failed& each : comm.device->failures().list()) {
    if (includes(comm, each.peer)) members.push_back(each.peer);
  }
  return members;
}

bool is_acknowledged(const Comm& comm, std::uint32_t process) {
  if (comm.acknowledged == 0) return false;
  const std::vector<std::uint32_t> members = failed_members(comm);
  const auto end =
      members.begin() + static_cast<std::ptrdiff_t>(std::min(comm.acknowledged, members.size()));
  return std::find(members.begin(), end, process) != end;
}

base::Error operation_error(const Comm& comm, const device::Operation& operation) {
  switch (operation.outcome.error) {
    case base::ErrorClass::proc_failed:
      return process_error(comm, operation.outcome.peer);
    case base::ErrorClass::revoked:
      return revoked_error(comm);
    case base::ErrorClass::proc_failed_pending:
      return base::failure(base::ErrorClass::proc_failed_pending,
                           "the receive from MPI_ANY_SOURCE waits on, but %s; acknowledge the "
                           "failure with MPIX_Comm_ack_failed to go on, or cancel the receive",
                           process_error(comm, operation.outcome.peer).text().c_str());
    default:
      return base::Error(operation.outcome.error);
  }
}

}  // namespace fulmar::mpi
