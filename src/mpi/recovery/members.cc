// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/recovery/members.h"

#include <utility>

#include "mpi/group/group.h"

namespace fulmar::mpi {
namespace {

/// Whether the remote group comes first.
bool is_second(const Comm& comm) {
  const fabric::ProcessTable& processes = comm.device->processes();
  const auto local = processes.name_of(comm.local_comm->routes.front().peer);
  const auto remote = processes.name_of(comm.routes.front().peer);
  return local && remote && *remote < *local;
}

Routes copy_of(const Routes& routes, const ProcessList& processes) {
  if (routes.have_one_context()) return {processes, std::vector{routes.front().context}};
  std::vector<std::uint32_t> contexts;
  contexts.reserve(static_cast<std::size_t>(routes.size()));
  for (const Route route : routes) contexts.push_back(route.context);
  return {processes, std::move(contexts)};
}

}  // namespace

Members::Members(const Comm& comm) {
  if (!comm.is_inter) {
    sides_[0] = copy_of(comm.routes, comm.group->processes);
  } else {
    const std::size_t local = is_second(comm) ? 1 : 0;
    sides_[local] = copy_of(comm.local_comm->routes, comm.group->processes);
    sides_[1 - local] = copy_of(comm.routes, comm.remote_group->processes);
  }
  second_ = number(sides_[0].size());
  if (comm.is_inter) (is_second(comm) ? first_local_ : first_remote_) = second_;
  self_ = local(comm.rank);
}

std::optional<std::uint32_t> Members::find(std::uint32_t process) const {
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    const int rank = sides_[side].rank_of(process, sorted_[side]);
    if (rank >= 0) return (side == 0 ? 0 : second_) + number(rank);
  }
  return std::nullopt;
}

}  // namespace fulmar::mpi
