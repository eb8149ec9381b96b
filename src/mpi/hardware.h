// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/os/processors.h"

/// The hardware of a node as MPI names it (MPI 5.0 sections 7.4.2 and 9.1): kinds of resources, and
/// which of each kind a process is confined to by its affinity mask. The names are those that users
/// know from hwloc; what the kernel says below /sys is enough to tell, so the library needs no
/// hwloc for it.
namespace fulmar::mpi {

inline constexpr std::string_view shared_memory_resource = "mpi_shared_memory";
/// From the widest to the narrowest. The first is the same as mpi_shared_memory.
inline constexpr std::array<std::string_view, 8> hardware_types = {
    "hwloc://Machine", "hwloc://Package", "hwloc://NUMANode", "hwloc://L3Cache",
    "hwloc://L2Cache", "hwloc://L1Cache", "hwloc://Core",     "hwloc://PU"};

/// Place of a name among the types; nothing for a name that is none.
[[nodiscard]] std::optional<std::size_t> hardware_type_of(std::string_view name) noexcept;

/// For each type the number of the object that a process is confined to, or `several`.
struct HardwareUse {
  static constexpr std::int32_t several = -1;
  std::array<std::int32_t, hardware_types.size()> objects{};
};

/// Of a process that may run on these processors, at least one.
[[nodiscard]] HardwareUse hardware_use(const std::vector<base::Processor>& processors) noexcept;
/// Of the calling thread, now. Reads some small files of the kernel.
[[nodiscard]] HardwareUse own_hardware_use();

}  // namespace fulmar::mpi
