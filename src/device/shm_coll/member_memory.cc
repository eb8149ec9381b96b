// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/shm_coll/member_memory.h"

#include <algorithm>

#include "device/device.h"

namespace fulmar::device {

bool MemberMemory::reaches_all() const noexcept {
  return std::all_of(members_.begin(), members_.end(), [&](const CollMember& member) {
    return &member == &members_[static_cast<std::size_t>(self_)] ||
           device_.node()->shm().reach(member.number);
  });
}

base::Error MemberMemory::read(int member, std::uint64_t address,
                               std::span<std::byte> to) const noexcept {
  const iovec piece{to.data(), to.size()};
  const base::Error error = device_.node()->shm().read(
      members_[static_cast<std::size_t>(member)].number, {&piece, 1}, address, to.size());
  if (error.ok()) device_.count_single_copy();
  return error;
}

base::Error MemberMemory::write(int member, std::uint64_t address,
                                std::span<const std::byte> from) const noexcept {
  const iovec piece{const_cast<std::byte*>(from.data()), from.size()};
  const base::Error error = device_.node()->shm().write(
      members_[static_cast<std::size_t>(member)].number, {&piece, 1}, address, from.size());
  if (error.ok()) device_.count_single_copy();
  return error;
}

}  // namespace fulmar::device
