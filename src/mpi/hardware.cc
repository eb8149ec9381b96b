// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/hardware.h"

namespace fulmar::mpi {

std::optional<std::size_t> hardware_type_of(std::string_view name) noexcept {
  if (name == shared_memory_resource) return 0;
  for (std::size_t type = 0; type < hardware_types.size(); ++type) {
    if (hardware_types[type] == name) return type;
  }
  return std::nullopt;
}

HardwareUse hardware_use(const std::vector<base::Processor>& processors) noexcept {
  HardwareUse use;
  bool first = true;
  for (const base::Processor& one : processors) {
    const std::array<std::uint32_t, hardware_types.size()> objects = {
        0, one.socket, one.numa, one.l3, one.l2, one.l1, one.core, one.id};
    for (std::size_t type = 0; type < objects.size(); ++type) {
      const auto object = static_cast<std::int32_t>(objects[type]);
      if (first) use.objects[type] = object;
      if (use.objects[type] != object) use.objects[type] = HardwareUse::several;
    }
    first = false;
  }
  return use;
}

HardwareUse own_hardware_use() {
  return hardware_use(
      base::read_topology(base::allowed_processors(), "/sys", base::TopologyDetail::all));
}

}  // namespace fulmar::mpi
