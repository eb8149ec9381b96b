// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "wire/node/shm_area.h"

namespace fulmar::device {

class Device;

/// A member of a collective area (shm_coll_area.h).
struct CollMember {
  wire::CollBlock* coll_area;
  std::span<std::byte> staging;
  const wire::AreaControl* control;
  std::uint32_t number;  ///< of the process among those of the node
};

/// The private memory of the members of a collective area, through the kernel (fabric/shm/shm.h). Not
/// longer than the area.
class MemberMemory {
 public:
  MemberMemory(Device& device, const std::vector<CollMember>& members, int self) noexcept
      : device_(device), members_(members), self_(self) {}

  /// Whether this process can reach the memory of all others.
  [[nodiscard]] bool reaches_all() const noexcept;
  /// Copies `to.size()` bytes from an address that the member posted. Fails (other) where the
  /// kernel refuses or nothing is mapped there.
  [[nodiscard]] base::Error read(int member, std::uint64_t address,
                                 std::span<std::byte> to) const noexcept;
  /// Copies `from` to an address that the member posted. Fails likewise.
  [[nodiscard]] base::Error write(int member, std::uint64_t address,
                                  std::span<const std::byte> from) const noexcept;

 private:
  Device& device_;
  const std::vector<CollMember>& members_;
  int self_;
};

}  // namespace fulmar::device
