// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/session/process_sets.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>

#include "device/device.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/world.h"

namespace fulmar::mpi {
namespace {

using base::ErrorClass;
using Processes = std::vector<ProcessId>;

constexpr std::string_view world_name = "mpi://WORLD";
constexpr std::string_view self_name = "mpi://SELF";
constexpr std::string_view parent_name = "fulmar://parent";
constexpr std::string_view node_prefix = "fulmar://node/";
constexpr std::string_view job_prefix = "fulmar://job/";

bool same(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

/// The number behind a prefix.
std::optional<std::uint32_t> number_behind(std::string_view prefix, std::string_view name,
                                           int base) {
  if (name.size() <= prefix.size() || !same(name.substr(0, prefix.size()), prefix)) return {};
  const std::string_view digits = name.substr(prefix.size());
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  return number;
}

std::string job_name(std::uint32_t job) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", job);
  return std::string(job_prefix) + digits;
}

const Comm* parent_of(const Library& library) {
  return library.world->parent == 0 ? nullptr : library.find_any<Comm>(library.world->parent);
}

Processes remote_group_of(const Comm& comm) {
  Processes processes;
  for (int rank = 0; rank < comm.remote_size; ++rank) processes.push_back(comm.routes[rank].peer);
  return processes;
}

/// Processes of other jobs with which this one shares a communicator, by job, in the order of their
/// ids. A job's ids follow each other in the order of its ranks.
std::map<std::uint32_t, Processes> other_jobs(const Library& library) {
  std::map<std::uint32_t, Processes> jobs;
  const World& world = *library.world;
  Processes all;
  for (const Comm* comm : library.comms) {
    for (int rank = 0; rank < comm->routes.size(); ++rank) {
      if (comm->routes[rank].peer >= world.processes) all.push_back(comm->routes[rank].peer);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const ProcessId process : all) {
    const auto name = world.world.device->processes().name_of(process);
    if (name) jobs[name->job].push_back(process);
  }
  return jobs;
}

Processes on_node(const World& world, std::uint32_t node) {
  Processes processes;
  for (std::uint32_t rank = 0; rank < world.processes; ++rank) {
    if (world.placement.node_of(rank) == node) processes.push_back(rank);
  }
  return processes;
}

void add(std::vector<std::string>& names, std::string name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) names.push_back(std::move(name));
}

}  // namespace

void add_process_sets(const Library& library, std::vector<std::string>& names) {
  const World& world = *library.world;
  if (names.empty()) {
    names = {std::string(world_name), std::string(self_name)};
    std::uint32_t nodes = 0;
    for (std::uint32_t rank = 0; rank < world.processes; ++rank) {
      nodes = std::max(nodes, world.placement.node_of(rank) + 1);
    }
    for (std::uint32_t node = 0; node < nodes; ++node) {
      names.push_back(std::string(node_prefix) + std::to_string(node));
    }
  }
  if (parent_of(library) != nullptr) add(names, std::string(parent_name));
  if (world.world.device->processes().size() == world.processes) return;  // no other job is known
  for (const auto& [job, processes] : other_jobs(library)) add(names, job_name(job));
}

base::Result<Processes> process_set(const Library& library, std::string_view name) {
  const World& world = *library.world;
  Processes processes;
  if (same(name, world_name)) {
    processes.resize(world.processes);
    std::iota(processes.begin(), processes.end(), ProcessId{0});
  } else if (same(name, self_name)) {
    processes = {world.self_process};
  } else if (same(name, parent_name)) {
    if (const Comm* const parent = parent_of(library)) processes = remote_group_of(*parent);
  } else if (const auto node = number_behind(node_prefix, name, 10)) {
    processes = on_node(world, *node);
  } else if (const auto job = number_behind(job_prefix, name, 16)) {
    processes = other_jobs(library)[*job];
  }
  if (!processes.empty()) return processes;
  return base::failure(ErrorClass::arg,
                       "argument pset_name: \"%.*s\" is no process set, or is not one any more; "
                       "MPI_Session_get_nth_pset names them",
                       static_cast<int>(name.size()), name.data());
}

}  // namespace fulmar::mpi
