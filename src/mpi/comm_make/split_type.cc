// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <vector>

#include "mpi/coll/calls.h"
#include "mpi/comm/calls.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/jobs.h"
#include "mpi/comm/world.h"
#include "mpi/comm_make/calls.h"
#include "mpi/datatype/datatype.h"
#include "mpi/hardware.h"
#include "mpi/info/info.h"

/// MPI_Comm_split_type: a split by hardware, so by a color that each process determines
/// itself. Only the unguided form needs the hardware of all processes, to find the
/// widest kind that divides them.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

constexpr std::string_view resource_key = "mpi_hw_resource_type";
constexpr std::string_view set_key = "mpi_pset_name";

/// Objects of different types never have the same color, so that processes which name different
/// ones get different communicators. There are 16 types, and 2^27 objects of each.
int color_of(std::size_t type, std::uint32_t object) {
  return static_cast<int>(type << 27 | (object & 0x7ffffff));
}

/// Nor have objects of different nodes: 65536 nodes of 2048 processors are distinguished.
int hardware_color(std::size_t type, std::int32_t object, std::uint32_t node) {
  if (object == HardwareUse::several) return MPI_UNDEFINED;
  return color_of(type, node << 11 | (static_cast<std::uint32_t>(object) & 0x7ff));
}

/// Nodes of different jobs share no memory: there a node is numbered by its first rank.
std::uint32_t own_node(const Comm& comm) {
  const World& world = *comm.library->world;
  const std::uint32_t node = world.placement.node_of(world.self_process);
  const Comm& group = comm.is_inter ? *comm.local_comm : comm;
  if (!spans_jobs(comm)) return node;
  int rank = 0;
  while (rank < group.rank) {
    const std::uint32_t process = group.routes[rank].peer;
    if (process < world.processes && world.placement.node_of(process) == node) break;
    ++rank;
  }
  return static_cast<std::uint32_t>(rank);
}

/// By the type that the info names; all get MPI_COMM_NULL where it names no known type.
int guided_color(const Info* info, std::uint32_t node) {
  const std::string* name = info == nullptr ? nullptr : info->find(resource_key);
  const auto type = name == nullptr ? std::nullopt : hardware_type_of(*name);
  if (!type) return MPI_UNDEFINED;
  const std::int32_t object = *type == 0 ? 0 : own_hardware_use().objects[*type];
  return hardware_color(*type, object, node);
}

/// By the process set that the info names, else by hardware.
int resource_color(const Info* info, const Comm& comm) {
  constexpr std::size_t after_hardware = hardware_types.size();
  const std::string* name = info == nullptr ? nullptr : info->find(set_key);
  if (name == nullptr || info->find(resource_key) != nullptr) {
    return guided_color(info, own_node(comm));
  }
  if (*name == "mpi://WORLD") return color_of(after_hardware, 0);
  if (*name == "mpi://SELF") {
    return color_of(after_hardware + 1, static_cast<std::uint32_t>(comm.rank));
  }
  return MPI_UNDEFINED;
}

/// Whether a type of hardware divides the processes, so that every part of them is smaller than the
/// whole.
bool divides(std::size_t type, const std::vector<HardwareUse>& all) {
  bool any = false;
  bool same = true;
  for (const HardwareUse& use : all) {
    any |= use.objects[type] != HardwareUse::several;
    same &= use.objects[type] == all.front().objects[type];
  }
  return any && !same;
}

/// The widest type that divides the processes of `comm` gives the color, and its name goes into the
/// info.
Error widest_color(Comm& comm, Info* info, int& color) {
  color = MPI_UNDEFINED;
  const Datatype& byte = *comm.library->find<Datatype>(MPI_BYTE);
  HardwareUse own = own_hardware_use();
  const std::uint32_t node = own_node(comm);
  own.objects[0] = static_cast<std::int32_t>(node);
  std::vector<HardwareUse> all(static_cast<std::size_t>(comm.size()));
  const Error error = allgather({&own, sizeof own, &byte}, {all.data(), sizeof own, &byte}, comm);
  if (error.failed()) return error;
  for (std::size_t type = 0; type < hardware_types.size(); ++type) {
    if (!divides(type, all)) continue;
    color = hardware_color(type, type == 0 ? 0 : own.objects[type], node);
    if (color != MPI_UNDEFINED && info != nullptr && !info->predefined) {
      info->set(resource_key, hardware_types[type]);
    }
    return {};
  }
  return {};
}

/// A process that passes MPI_UNDEFINED takes part in one split and does not know the arguments of
/// the others, so they continue among themselves. An intercommunicator is not divided.
Error split_unguided(Library& library, Comm& comm, int key, Info* info, MPI_Comm& out) {
  const int takes_part = comm.is_inter ? MPI_UNDEFINED : 0;
  const Error alone = comm_split(library, comm, takes_part, 0, out);
  if (alone.failed() || comm.is_inter) return alone;
  Comm& part = *library.find<Comm>(out);
  int color = MPI_UNDEFINED;
  Error error = widest_color(part, info, color);
  if (error.ok()) error = comm_split(library, part, color, key, out);
  if (error.failed()) out = MPI_COMM_NULL;
  library.give_back(part);
  return error;
}

Error split(Library& library, Comm& comm, int type, int key, Info* info, MPI_Comm& out) {
  int color = MPI_UNDEFINED;
  switch (type) {
    case MPI_COMM_TYPE_SHARED:
      color = static_cast<int>(own_node(comm));
      break;
    case MPI_COMM_TYPE_HW_GUIDED:
      color = guided_color(info, own_node(comm));
      break;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      color = resource_color(info, comm);
      break;
    case MPI_COMM_TYPE_HW_UNGUIDED:
      return split_unguided(library, comm, key, info, out);
    case MPI_UNDEFINED:
      break;
    default:
      return refuse_split(
          library, comm,
          base::failure(ErrorClass::arg,
                        "argument split_type: %d is none of the MPI_COMM_TYPE_ constants", type),
          out);
  }
  return comm_split(library, comm, color, key, out);
}

}  // namespace

Error comm_split_type(Library& library, Comm& comm, int type, int key, Info* info, MPI_Comm& out) {
  const Error error = split(library, comm, type, key, info, out);
  return error.failed() ? error : set_new_info(library, out, info);
}

}  // namespace fulmar::mpi
