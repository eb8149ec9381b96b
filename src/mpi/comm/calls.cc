// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/calls.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "mpi/attr/attributes.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/world.h"
#include "mpi/group/calls.h"
#include "mpi/group/group.h"
#include "mpi/info/info.h"
#include "mpi/memory_kinds.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

const char* name_of(const Comm& comm) {
  return comm.name != nullptr ? comm.name : "the communicator";
}

Error refuse_intra(const Comm& comm) {
  if (comm.is_inter) return {};
  return failure(ErrorClass::comm,
                 "argument comm: %s is no intercommunicator; only those have a remote group",
                 name_of(comm));
}

AttributeOwner owner_of(Comm& comm) { return {comm.attributes, KeyvalKind::comm, comm.handle}; }

constexpr std::array<std::string_view, 5> truth_hints = {
    "mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking", "mpi_assert_strict_persistent_collective_ordering"};
constexpr std::string_view text_hint = "mpi_assert_memory_alloc_kinds";

bool is_hint(std::string_view key, std::string_view value) {
  if (key == text_hint) return true;
  const bool known = std::find(truth_hints.begin(), truth_hints.end(), key) != truth_hints.end();
  return known && (value == "true" || value == "false");
}

}  // namespace

Error comm_rank(Comm& comm, int& rank) {
  rank = comm.rank;
  return {};
}

Error comm_size(Comm& comm, int& size) {
  size = comm.size();
  return {};
}

Error comm_remote_size(Comm& comm, int& size) {
  if (const Error bad = refuse_intra(comm); bad.failed()) return bad;
  size = comm.remote_size;
  return {};
}

Error comm_test_inter(Comm& comm, int& flag) {
  flag = comm.is_inter ? 1 : 0;
  return {};
}

Error comm_compare(Library& library, Comm& a, Comm& b, int& result) {
  if (&a == &b) {
    result = MPI_IDENT;
    return {};
  }
  result = MPI_UNEQUAL;
  if (a.is_inter != b.is_inter) return {};
  int local = MPI_UNEQUAL;
  int remote = MPI_IDENT;
  if (const Error bad = group_compare(library, *a.group, *b.group, local); bad.failed()) return bad;
  if (a.is_inter) {
    const Error bad = group_compare(library, *a.remote_group, *b.remote_group, remote);
    if (bad.failed()) return bad;
  }
  if (local == MPI_UNEQUAL || remote == MPI_UNEQUAL) return {};
  result = local == MPI_IDENT && remote == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
  return {};
}

Error comm_group(Library& library, Comm& comm, MPI_Group& out) {
  return give_group(library, comm.group->processes, comm.rank, out, comm.session);
}

Error comm_remote_group(Library& library, Comm& comm, MPI_Group& out) {
  if (const Error bad = refuse_intra(comm); bad.failed()) return bad;
  return give_group(library, comm.remote_group->processes, Group::no_rank, out, comm.session);
}

Error comm_set_name(Comm& comm, std::string_view name) {
  comm.name_text = name.substr(0, MPI_MAX_OBJECT_NAME - 1);
  comm.name = comm.name_text.empty() ? nullptr : comm.name_text.c_str();
  return {};
}

Error comm_get_name(Comm* comm, char* name, int& length) {
  const std::string_view text =
      comm == nullptr ? std::string_view("MPI_COMM_NULL") : std::string_view(comm->name_text);
  std::memcpy(name, text.data(), text.size());
  name[text.size()] = '\0';
  length = static_cast<int>(text.size());
  return {};
}

Error comm_set_info(Comm& comm, Info* info) {
  if (info == nullptr) return {};
  for (const auto& [key, value] : info->entries) {
    if (!is_hint(key, value)) continue;
    const auto same_key = [&](const Info::Entry& hint) { return hint.key == key; };
    const auto old = std::find_if(comm.hints.begin(), comm.hints.end(), same_key);
    if (old != comm.hints.end()) {
      old->value = value;
    } else {
      comm.hints.push_back({key, value});
    }
  }
  return {};
}

Error set_new_info(Library& library, MPI_Comm made, Info* info) {
  auto* comm = library.find<Comm>(made);
  return comm != nullptr ? comm_set_info(*comm, info) : Error{};
}

Error comm_get_info(Library& library, Comm& comm, MPI_Info& out) {
  auto* info = library.make<Info>();
  if (info == nullptr) return failure(ErrorClass::no_mem, "no memory for another info object");
  for (const std::string_view hint : truth_hints) info->set(hint, "false");
  for (const auto& [key, value] : comm.hints) info->set(key, value);
  info->set(memory_kinds_key, memory_kinds);
  out = handle_cast<MPI_Info>(*info);
  return {};
}

Error comm_set_attr(Library& library, Comm& comm, int keyval, void* value) {
  return set_attribute(library, owner_of(comm), keyval, value);
}

Error comm_get_attr(Library& library, Comm& comm, int keyval, void*& value, int& found) {
  return get_attribute(library, owner_of(comm), keyval, value, found);
}

Error comm_delete_attr(Library& library, Comm& comm, int keyval) {
  return delete_attribute(library, owner_of(comm), keyval);
}

Error attr_put(Library& library, Comm& comm, int keyval, void* value) {
  return comm_set_attr(library, comm, keyval, value);
}

Error attr_get(Library& library, Comm& comm, int keyval, void*& value, int& found) {
  return comm_get_attr(library, comm, keyval, value, found);
}

Error attr_delete(Library& library, Comm& comm, int keyval) {
  return comm_delete_attr(library, comm, keyval);
}

Error comm_free(Library& library, Handle<Comm> comm) {
  Comm& object = *comm.object;
  if (object.predefined) {
    return failure(ErrorClass::comm, "argument comm: %s is predefined and cannot be freed",
                   name_of(object));
  }
  library.acquire(object);  // the functions of the attributes may free it too
  const Error error = delete_attributes(library, owner_of(object));
  if (error.ok()) {
    if (object.handle == library.world->parent) library.world->parent = 0;
    library.give_back(object);
    *comm.where = MPI_COMM_NULL;
  }
  library.release(object);
  return error;
}

}  // namespace fulmar::mpi
