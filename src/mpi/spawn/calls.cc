// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/spawn/calls.h"

#include <cstring>
#include <string>
#include <vector>

#include "mpi/comm/calls.h"
#include "mpi/comm/world.h"
#include "mpi/info/info.h"
#include "mpi/spawn/group_exchange.h"
#include "mpi/spawn/info_entries.h"
#include "mpi/spawn/unlocked.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

Error write_name(std::string_view name, char* out) {
  if (name.size() >= MPI_MAX_PORT_NAME) {
    return failure(ErrorClass::intern, "a port's name of %zu bytes does not fit", name.size());
  }
  std::memcpy(out, name.data(), name.size());
  out[name.size()] = '\0';
  return {};
}

Opening opening_of(base::Result<PortService::Connected> connected) {
  return {std::move(connected), {}};
}

}  // namespace

std::vector<InfoEntry> entries_of(const Info* info) {
  std::vector<InfoEntry> entries;
  if (info == nullptr) return entries;
  for (const Info::Entry& entry : info->entries) entries.emplace_back(entry.key, entry.value);
  return entries;
}

Error open_port(Library& library, Info* info, char* name) {
  const auto opened = library.ports->open(entries_of(info));
  return opened.failed() ? opened.error() : write_name(opened.value(), name);
}

Error close_port(Library& library, std::string_view name) { return library.ports->close(name); }

Error comm_accept(Library& library, std::string_view name, Info* /*info*/, int root, Comm& comm,
                  MPI_Comm& out) {
  const auto accept = [&](std::span<const std::byte> first, const GiveUp& give_up) {
    return opening_of(library.ports->accept(name, first, give_up));
  };
  return connect_groups(library, comm, root, accept, out);
}

Error comm_connect(Library& library, std::string_view name, Info* info, int root, Comm& comm,
                   MPI_Comm& out) {
  const auto connect = [&](std::span<const std::byte> first, const GiveUp& give_up) {
    return opening_of(library.ports->connect(name, entries_of(info), first, give_up));
  };
  return connect_groups(library, comm, root, connect, out);
}

Error comm_join(Library& library, int socket, MPI_Comm& out) {
  const auto join = [&](std::span<const std::byte> first, const GiveUp& give_up) {
    return opening_of(library.ports->join(socket, first, give_up));
  };
  return connect_groups(library, library.world->self, 0, join, out);
}

Error comm_get_parent(Library& library, MPI_Comm& parent) {
  const bool exists =
      library.world != nullptr && library.find_any<Comm>(library.world->parent) != nullptr;
  parent = exists ? reinterpret_cast<MPI_Comm>(library.world->parent) : MPI_COMM_NULL;
  return {};
}

Error connect_to_parent(Library& library, std::string_view port) {
  MPI_Comm parent = MPI_COMM_NULL;
  const Error error = comm_connect(library, port, nullptr, 0, library.world->world, parent);
  if (error.failed()) return error;
  library.world->parent = reinterpret_cast<std::uintptr_t>(parent);
  // The parents may have revoked it already.
  return comm_set_name(*library.find_any<Comm>(library.world->parent), "MPI_COMM_PARENT");
}

Error publish_name(Library& library, std::string_view service, Info* info, std::string_view port) {
  const std::vector<InfoEntry> entries = entries_of(info);
  return unlocked(library, [&] { return library.launcher->publish(service, port, entries); });
}

Error unpublish_name(Library& library, std::string_view service, Info* info,
                     std::string_view port) {
  const std::vector<InfoEntry> entries = entries_of(info);
  return unlocked(library, [&] { return library.launcher->unpublish(service, port, entries); });
}

Error lookup_name(Library& library, std::string_view service, Info* info, char* port) {
  const std::vector<InfoEntry> entries = entries_of(info);
  const auto found = unlocked(library, [&] { return library.launcher->lookup(service, entries); });
  return found.failed() ? found.error() : write_name(found.value(), port);
}

}  // namespace fulmar::mpi
