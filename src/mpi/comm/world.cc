// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/world.h"

#include <numeric>

#include "mpi/group/group.h"

namespace fulmar::mpi {

World::World(Library& library, device::Device& process_device, std::uint32_t own_process,
             std::uint32_t process_count)
    : self_process(own_process), processes(process_count), world(library), self(library) {
  world.device = self.device = &process_device;
  world.context = ContextIds::world;
  world.rank = static_cast<int>(own_process);
  world.local_size = world.remote_size = static_cast<int>(process_count);
  world.identity = true;
  const auto size = static_cast<int>(process_count);
  world.routes = {0, size, ContextIds::world};
  world.name_text = "MPI_COMM_WORLD";
  self.context = ContextIds::self;
  self.local_size = self.remote_size = 1;
  self.routes = {own_process, 1, ContextIds::self};
  self.name_text = "MPI_COMM_SELF";
  if (process_count <= device::ShmCollArea::max_members) {
    std::vector<std::uint32_t> everybody(process_count);
    std::iota(everybody.begin(), everybody.end(), 0U);
    world.coll_area = process_device.make_coll_area(0, everybody, world.rank, 0);
  }
  process_device.coll_areas().take(
      0);  // also for those who see no collective area: the numbers must agree
  world.group = library.make<Group>(ProcessList(0, 1, size), world.rank);
  self.group = library.make<Group>(ProcessList(own_process, 1, 1), 0);
  world.name = world.name_text.c_str();
  self.name = self.name_text.c_str();
}

}  // namespace fulmar::mpi
