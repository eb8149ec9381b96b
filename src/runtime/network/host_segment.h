// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "device/transport/node_segment.h"
#include "fabric/shm/shm.h"
#include "wire/node/host_memory.h"
#include "wire/process_name.h"

namespace fulmar::runtime {

/// Memory that this process shares with processes of its own and of other jobs on this host
/// (wire/node/host_memory.h), as one of its members. Unmaps it at its end; the others keep theirs.
///
/// Thread rule: the lock of the engine.
class HostSegment {
 public:
  /// Takes memory that the members, in ascending order and with this process among them, share.
  /// The one that made it writes the header first (`Maker::self`). Fails (other) where it has
  /// another layout. `single_copy`: see fabric::Shm::Config.
  enum class Maker : bool { other, self };
  [[nodiscard]] static base::Result<std::unique_ptr<HostSegment>> take(
      device::NodeSegment memory, std::span<const wire::ProcessName> members,
      const wire::ProcessName& self, Maker maker, bool single_copy);
  HostSegment(const HostSegment&) = delete;
  HostSegment& operator=(const HostSegment&) = delete;
  ~HostSegment();

  /// How much memory so many members need. Requires 2 to wire::max_host_members.
  [[nodiscard]] static std::uint64_t bytes_for(std::size_t members) noexcept;

  [[nodiscard]] std::span<const wire::ProcessName> members() const noexcept { return members_; }
  /// The number of a member; UINT32_MAX for another process.
  [[nodiscard]] std::uint32_t number_of(const wire::ProcessName& process) const noexcept;
  [[nodiscard]] fabric::Shm& shm() noexcept { return *shm_; }

  [[nodiscard]] wire::HostMemberState state_of(std::uint32_t number) const noexcept;
  void set_state(wire::HostMemberState state) noexcept;
  /// Whether a member that has not left MPI has ended: asks the system.
  [[nodiscard]] bool has_died(std::uint32_t number) const noexcept;
  void mark_gone(std::uint32_t number) noexcept;
  [[nodiscard]] std::int32_t pid_of(std::uint32_t number) const noexcept;

 private:
  HostSegment(device::NodeSegment memory, std::span<const wire::ProcessName> members,
              std::uint32_t self);
  [[nodiscard]] wire::HostMember& member(std::uint32_t number) const noexcept;

  device::NodeSegment memory_;
  std::vector<wire::ProcessName> members_;
  std::uint32_t self_;
  std::unique_ptr<fabric::Shm> shm_;
};

}  // namespace fulmar::runtime
