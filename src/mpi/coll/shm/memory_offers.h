// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>

#include "mpi/coll/shm/shm_coll.h"

/// Collective calls whose members reach into each other's memory through the kernel: each posts
/// the address of its bytes on the collective area, and the members that need them read them, or
/// write their own there. One copy where payloads take two. But each system call costs a
/// microsecond or two and every page is looked up, so it is for long data.
///
/// Where ranks share cores, one copy is less work than two. Where each of many ranks has its own,
/// the copies of one rank, which would fill all payloads or empty them, are dealt out to all. With two
/// ranks that have a core each, one copies in while the other copies out, and payloads are faster.
///
/// In the first round a member offers its bytes and posts whether it can reach all others; in the
/// last one, that it has done its part. No member changes offered bytes in between. Where one of
/// them cannot (another user, a refused call), at first or in the middle, all use payloads
/// instead: they all see the same slots.
///
/// Data that are not one run of bytes are packed first, or not offered.
namespace fulmar::mpi {

/// What a member posts in each round. Not trusted: the kernel refuses a wrong address.
struct Offer {
  std::uint64_t address = 0;
  std::uint64_t result = 0;  ///< where others may write, in some calls
  std::uint64_t agrees = 0;  ///< 1: can reach the others' memory, or has done its part
};

[[nodiscard]] inline std::uint64_t number_of(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}

/// What a member has posted in this round.
[[nodiscard]] Offer offer_of(const device::ShmCollArea& coll_area, int member) noexcept;

/// One round; whether all agree. A member without bytes may have skipped the call (post_nothing)
/// and posted no offer. `whole` is the length that members compare.
[[nodiscard]] bool all_agree(device::ShmCollArea& coll_area, Count whole,
                             const Offer& own) noexcept;

[[nodiscard]] const Datatype& byte_type(const Comm& comm) noexcept;

/// Fills `to` from an address that a member offers.
[[nodiscard]] base::Error read_block(device::ShmCollArea& coll_area, int member,
                                     std::uint64_t address, const Packed& to, const Comm& comm);
/// Copies `from` there.
[[nodiscard]] base::Error write_block(device::ShmCollArea& coll_area, int member,
                                      std::uint64_t address, const Packed& from, const Comm& comm);

}  // namespace fulmar::mpi
