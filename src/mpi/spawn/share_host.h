// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "mpi/spawn/host_memory_service.h"
#include "mpi/spawn/port_service.h"
#include "wire/port/group_exchange.h"

namespace fulmar::mpi {

/// What the steps of connect_groups are made of: messages between the members of a group and its
/// root, and between the roots. All fail as the collective calls and the connection do.
class GroupSteps {
 public:
  GroupSteps() = default;
  GroupSteps(const GroupSteps&) = delete;
  GroupSteps& operator=(const GroupSteps&) = delete;
  virtual ~GroupSteps() = default;

  [[nodiscard]] virtual bool is_root() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// `all` has room for the bytes of all members, at the root.
  virtual base::Error gather(const void* own, std::size_t bytes, void* all) = 0;
  /// From the root to its group: `payload`, or why there is none.
  virtual base::Error share(const base::Error& outcome, std::vector<std::byte>& payload) = 0;
  /// At a root: sends to the other root, and returns what that sends.
  virtual base::Result<std::vector<std::byte>> swap(const std::vector<std::byte>& own) = 0;
  [[nodiscard]] virtual const GiveUp& give_up() const = 0;
};

/// The step of connect_groups in which the members of both groups that are on one host get memory to
/// share: on each such host the one with the lowest name makes it. Collective over both groups.
/// True in all of them: `use_host_memory` follows, when the jobs of the other group are known; false
/// in all: they use a network. Fails only as `steps` do: memory that cannot be had is no error.
[[nodiscard]] base::Result<bool> get_host_memory(GroupSteps& steps, HostMemoryService& memory,
                                                 const wire::ProcessName& self,
                                                 std::span<const wire::GroupMember> local,
                                                 std::span<const wire::GroupMember> remote);
/// Not collective. Fails (intern) where a job is not known.
[[nodiscard]] base::Error use_host_memory(HostMemoryService& memory,
                                          std::span<const wire::GroupMember> remote);

/// Whether an exchange of groups has members of both on one host.
[[nodiscard]] bool meet_on_a_host(std::span<const wire::GroupMember> local,
                                  std::span<const wire::GroupMember> remote);

}  // namespace fulmar::mpi
