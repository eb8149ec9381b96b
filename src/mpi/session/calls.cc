// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/session/calls.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/comm/world.h"
#include "mpi/group/calls.h"
#include "mpi/memory_kinds.h"
#include "mpi/session/process_sets.h"
#include "mpi/session/session.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

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

Error session_get_num_psets(Library& library, Session& session, Info* /*info*/, int& count) {
  add_process_sets(library, session.process_sets);
  count = static_cast<int>(session.process_sets.size());
  return {};
}

Error session_get_nth_pset(Library& library, Session& session, Info* /*info*/, int n, int& length,
                           char* name) {
  add_process_sets(library, session.process_sets);
  if (n < 0 || n >= static_cast<int>(session.process_sets.size())) {
    return failure(ErrorClass::arg, "argument n: there is no process set %d; they go from 0 to %zu",
                   n, session.process_sets.size() - 1);
  }
  const std::string& found = session.process_sets[static_cast<std::size_t>(n)];
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
  const auto processes = process_set(library, name);
  if (processes.failed()) return processes.error();
  return make_info(library, "mpi_size", std::to_string(processes.value().size()), out);
}

Error session_get_info(Library& library, Session& session, MPI_Info& out) {
  const Error error = make_info(library, "thread_level", level_name(session.thread_level), out);
  if (error.ok()) library.find<Info>(out)->set(memory_kinds_key, memory_kinds);
  return error;
}

Error group_from_session_pset(Library& library, Session& session, std::string_view name,
                              MPI_Group& out) {
  const auto processes = process_set(library, name);
  if (processes.failed()) {
    out = MPI_GROUP_NULL;
    return {};
  }
  const std::vector<ProcessId>& all = processes.value();
  const auto self = std::find(all.begin(), all.end(), library.world->self_process);
  const int rank = self == all.end() ? Group::no_rank : static_cast<int>(self - all.begin());
  return give_group(library, ProcessList(all), rank, out, session.handle);
}

}  // namespace fulmar::mpi
