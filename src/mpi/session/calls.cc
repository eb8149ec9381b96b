// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/session/calls.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "mpi/comm/world.h"
#include "mpi/group/calls.h"
#include "mpi/memory_kinds.h"
#include "mpi/session/session.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr std::array<std::string_view, 2> set_names = {"mpi://WORLD", "mpi://SELF"};
constexpr int no_set = -1;

/// The number of a process set. Names are URIs, whose letters may have either case.
int find_set(std::string_view name) {
  for (std::size_t i = 0; i < set_names.size(); ++i) {
    if (name.size() == set_names[i].size() &&
        ::strncasecmp(name.data(), set_names[i].data(), name.size()) == 0) {
      return static_cast<int>(i);
    }
  }
  return no_set;
}

ProcessList processes_of(const World& world, int set) {
  if (set == 0) return {0, 1, static_cast<int>(world.processes)};
  return {world.self_process, 1, 1};
}

Error make_info(Library& library, std::string_view key, std::string_view value, MPI_Info& out) {
  auto* info = library.make<Info>();
  if (info == nullptr) return failure(ErrorClass::no_mem, "no memory for another info object");
  info->set(key, value);
  out = handle_cast<MPI_Info>(*info);
  return {};
}

std::string_view level_name(int level) {
  if (level >= MPI_THREAD_MULTIPLE) return "MPI_THREAD_MULTIPLE";
  if (level >= MPI_THREAD_SERIALIZED) return "MPI_THREAD_SERIALIZED";
  return level >= MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE";
}

}  // namespace

Error session_get_num_psets(Session& /*session*/, Info* /*info*/, int& count) {
  count = static_cast<int>(set_names.size());
  return {};
}

Error session_get_nth_pset(Session& /*session*/, Info* /*info*/, int n, int& length, char* name) {
  if (n < 0 || n >= static_cast<int>(set_names.size())) {
    return failure(ErrorClass::arg, "argument n: there is no process set %d; they go from 0 to %zu",
                   n, set_names.size() - 1);
  }
  const std::string_view found = set_names[static_cast<std::size_t>(n)];
  if (length > 0) {
    const std::size_t kept = std::min(found.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(name, found.data(), kept);
    name[kept] = '\0';
  }
  length = static_cast<int>(found.size()) + 1;
  return {};
}

Error session_get_pset_info(Library& library, Session& /*session*/, std::string_view name,
                            MPI_Info& out) {
  const int set = find_set(name);
  if (set == no_set) {
    return failure(ErrorClass::arg, "argument pset_name: \"%.*s\" is no process set",
                   static_cast<int>(name.size()), name.data());
  }
  return make_info(library, "mpi_size", std::to_string(processes_of(*library.world, set).size()),
                   out);
}

Error session_get_info(Library& library, Session& session, MPI_Info& out) {
  const Error error = make_info(library, "thread_level", level_name(session.thread_level), out);
  if (error.ok()) library.find<Info>(out)->set(memory_kinds_key, memory_kinds);
  return error;
}

Error group_from_session_pset(Library& library, Session& session, std::string_view name,
                              MPI_Group& out) {
  const int set = find_set(name);
  if (set == no_set) {
    out = MPI_GROUP_NULL;
    return {};
  }
  const World& world = *library.world;
  const int rank = set == 0 ? static_cast<int>(world.self_process) : 0;
  return give_group(library, processes_of(world, set), rank, out, session.handle);
}

}  // namespace fulmar::mpi
