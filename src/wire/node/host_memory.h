// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "wire/node/shm_area.h"

/// Memory that processes of several jobs share on one host, made when they connect
/// (docs/adr/0040). Its members are numbered in the order of their names (wire/process_name.h).
///
/// ```
///  HostMemoryHeader
///  HostMember[members]
///  (to a multiple of 4096)
///  area[members]        see wire/node/shm_area.h
/// ```
///
/// It starts as zeros; the process that makes it writes the header before it offers it to the
/// others (wire/node/segment_offer.h).
namespace fulmar::wire {

inline constexpr std::array<char, 8> host_memory_magic = {'F', 'U', 'L', 'M', 'H', 'M', 'E', 'M'};
/// Raised with every change of this layout or of that of an area.
inline constexpr std::uint32_t host_memory_version = 1;
/// So many that each sender has a ring of its own at each other member.
inline constexpr std::uint32_t max_host_members = rings_per_area + 1;

struct alignas(64) HostMemoryHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t members;
  std::uint64_t area_bytes;
};

/// What a member says of itself; it alone writes `pid` and `state`.
enum class HostMemberState : std::uint32_t {
  absent = 0,    ///< has not mapped the memory yet
  inside = 1,    ///< uses it
  away = 2,      ///< has left MPI, and may come back
  closed = 3,    ///< has left MPI for good
  released = 4,  ///< has no communicator with a process that it reaches through it
  unmapped = 5,  ///< neither reads nor writes it any more
};
struct alignas(64) HostMember {
  std::atomic<std::int32_t> pid;
  std::atomic<std::uint32_t> state;  ///< HostMemberState
  std::atomic<std::uint32_t> gone;   ///< not 0: a member has found that the process has died
};
static_assert(sizeof(HostMemoryHeader) == 64 && sizeof(HostMember) == 64);

/// Offsets and sizes in bytes. Requires 2 to max_host_members members.
struct HostMemoryLayout {
  std::uint64_t area_bytes = 0;
  std::uint64_t areas = 0;
  std::uint64_t bytes = 0;

  /// Up to a mebibyte for each ring while all areas together take no more than a gibibyte: it is
  /// address space, of which only what is used becomes memory.
  static constexpr HostMemoryLayout of(std::uint32_t members) noexcept {
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
    const std::uint64_t rings = members - 1;
    const std::uint64_t least = 5 * mebibyte / 4 + rings * (smallest_ring_data_bytes * 2);
    const std::uint64_t wanted = 2 * mebibyte + rings * mebibyte;
    const std::uint64_t shared = (1024 * mebibyte / members) & ~std::uint64_t{4095};
    HostMemoryLayout layout;
    layout.area_bytes = std::max(least, std::min(wanted, shared));
    layout.areas = AreaLayout::align(
        sizeof(HostMemoryHeader) + std::uint64_t{members} * sizeof(HostMember), 4096);
    layout.bytes = layout.areas + members * layout.area_bytes;
    return layout;
  }
};
static_assert(AreaLayout::fit(2, HostMemoryLayout::of(2).area_bytes).ring_count == 1);
static_assert(AreaLayout::fit(max_host_members, HostMemoryLayout::of(max_host_members).area_bytes)
                  .ring_count == rings_per_area);

}  // namespace fulmar::wire
