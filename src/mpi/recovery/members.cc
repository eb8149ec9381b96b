// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/recovery/members.h"

#include <algorithm>

namespace fulmar::mpi {
namespace {

/// Whether the remote group comes first.
bool is_second(const Comm& comm) {
  const fabric::ProcessTable& processes = comm.device->processes();
  const auto local = processes.name_of(comm.local_comm->routes.front().peer);
  const auto remote = processes.name_of(comm.routes.front().peer);
  return local && remote && *remote < *local;
}

}  // namespace

Members::Members(const Comm& comm) {
  if (!comm.is_inter) {
    append(comm.routes);
    second_ = size();
  } else if (is_second(comm)) {
    append(comm.routes);
    second_ = first_local_ = size();
    append(comm.local_comm->routes);
  } else {
    append(comm.local_comm->routes);
    second_ = first_remote_ = size();
    append(comm.routes);
  }
  self_ = local(comm.rank);
  for (std::uint32_t i = 0; i < size(); ++i) by_process_.push_back({routes_[i].peer, i});
  std::sort(by_process_.begin(), by_process_.end(),
            [](const Entry& a, const Entry& b) { return a.process < b.process; });
}

void Members::append(const Routes& routes) {
  for (const Route route : routes) routes_.push_back(route);
}

std::optional<std::uint32_t> Members::find(std::uint32_t process) const noexcept {
  const auto at =
      std::lower_bound(by_process_.begin(), by_process_.end(), process,
                       [](const Entry& entry, std::uint32_t id) { return entry.process < id; });
  if (at == by_process_.end() || at->process != process) return std::nullopt;
  return at->member;
}

}  // namespace fulmar::mpi
