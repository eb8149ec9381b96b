// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm_make/creation.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "mpi/attr/attributes.h"
#include "mpi/coll/failure.h"
#include "mpi/group/group.h"
#include "mpi/recovery/recovery.h"

namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using base::failure;

namespace {

Comm* make_comm(Library& library) noexcept {
  Comm* comm = library.make<Comm>(library);
  if (comm == nullptr) return nullptr;
  comm->device = library.device;
  comm->context = library.world->contexts.take();
  comm->numbered = true;
  return comm;
}

}  // namespace

NewComm::NewComm(Library& library, Shape shape) noexcept
    : library_(library), comm_(make_comm(library)) {
  if (comm_ == nullptr || shape == Shape::intra) return;
  comm_->is_inter = true;
  comm_->local_comm = make_comm(library);
  if (comm_->local_comm != nullptr) return;
  library.give_back(*comm_);
  comm_ = nullptr;
}

NewComm::~NewComm() {
  if (offered_) library_.device->coll_areas().settle();
  if (comm_ == nullptr) return;
  (void)delete_attributes(library_, {comm_->attributes, KeyvalKind::comm, comm_->handle});
  library_.give_back(*comm_);
}

MemberInfo NewComm::announcement(const Error& so_far, Boards coll_areas) noexcept {
  MemberInfo own{};
  const wire::ProcessName& self = library_.device->processes().own_name();
  own.job = self.job;
  own.rank_in_job = self.rank;
  own.engine = self.engine;
  if (comm_ == nullptr || so_far.failed()) {
    own.failed = told_class(so_far.failed() ? so_far : Error(ErrorClass::no_mem));
    return own;
  }
  own.context = comm_->context;
  if (comm_->is_inter) own.local_context = comm_->local_comm->context;
  if (coll_areas == Boards::none || comm_->is_inter) return own;
  device::ShmCollAreaPool& pool = library_.device->coll_areas();
  own.free_boards = pool.offer();
  own.newest_round = pool.newest_round();
  offered_ = own.free_boards != 0;
  return own;
}

void NewComm::give(MPI_Comm& out) noexcept {
  out = handle_cast<MPI_Comm>(*comm_);
  comm_ = nullptr;
}

std::uint16_t told_class(const Error& error) noexcept {
  const int code = error.code();
  if (code >= 0 && code <= UINT16_MAX) return static_cast<std::uint16_t>(code);
  return static_cast<std::uint16_t>(ErrorClass::other);  // a class of the program's own
}

/// A failed process and a revoked communicator concern all; what else one has done wrong is its own.
Error failed_member(const char* group, std::size_t rank, std::uint16_t told) {
  if (told == 0) {
    return failure(ErrorClass::other,
                   "the communicator was not made, because rank %zu of the %s failed to; its own "
                   "error says why",
                   rank, group);
  }
  const auto theirs = static_cast<ErrorClass>(told);
  const bool of_all = theirs == ErrorClass::proc_failed || theirs == ErrorClass::revoked;
  return failure(
      of_all ? theirs : ErrorClass::other,
      "the communicator was not made, because rank %zu of the %s cannot take part: %s: %s", rank,
      group, base::error_class_name(theirs), base::error_class_text(theirs));
}

Error check_census(const MemberTable& all) {
  for (const std::vector<MemberInfo>* group : {&all.local, &all.remote}) {
    for (std::size_t rank = 0; rank < group->size(); ++rank) {
      if ((*group)[rank].failed == 0) continue;
      return failed_member(group == &all.local ? "old one" : "remote group", rank,
                           (*group)[rank].failed);
    }
  }
  return {};
}

namespace {

/// Gives the communicator a collective area that is free in all its members, if there is one: the
/// first.
void settle_board(Comm& comm, const ProcessList& processes, std::uint64_t free_boards,
                  std::uint64_t newest_round) {
  const auto size = static_cast<std::size_t>(processes.size());
  if (free_boards == 0 || size > device::ShmCollArea::max_members) return;
  std::vector<std::uint32_t> peers;
  peers.reserve(size);
  for (int rank = 0; rank < processes.size(); ++rank) peers.push_back(processes[rank]);
  const auto index = static_cast<std::uint32_t>(std::countr_zero(free_boards));
  comm.coll_area = comm.device->make_coll_area(index, peers, comm.rank, newest_round);
  if (comm.coll_area != nullptr) comm.device->coll_areas().take(index);
}

void settle_board(Comm& comm, const ProcessList& processes, std::span<const MemberInfo> members) {
  std::uint64_t common = ~std::uint64_t{0};
  std::uint64_t newest = 0;
  for (const MemberInfo& one : members) {
    common &= one.free_boards;
    newest = std::max(newest, one.newest_round);
  }
  settle_board(comm, processes, common, newest);
}

using ContextField = std::uint32_t MemberInfo::*;

/// The local ids of the members, from the names that they sent.
base::Result<ProcessList> processes_of(const Library& library,
                                       std::span<const MemberInfo> members) {
  const fabric::ProcessTable& known = library.device->processes();
  std::vector<ProcessId> processes;
  processes.reserve(members.size());
  for (const MemberInfo& one : members) {
    const auto id = known.id_of(name_of(one));
    if (!id) {
      return failure(ErrorClass::other,
                     "the communicator was not made: rank %u of job %08x is to be a member, but "
                     "this process (of job %08x) does not know it",
                     one.rank_in_job, one.job, known.own_name().job);
    }
    processes.push_back(*id);
  }
  return ProcessList(processes);
}

void set_routes(Comm& comm, const ProcessList& processes, std::vector<std::uint32_t> contexts) {
  comm.routes = Routes(processes, std::move(contexts));
  comm.remote_size = processes.size();
  const ProcessList world(0, 1, static_cast<int>(comm.library->world->processes));
  comm.identity = !comm.is_inter && processes == world;
}

void set_routes(Comm& comm, const ProcessList& processes, std::span<const MemberInfo> peers,
                ContextField context) {
  std::vector<std::uint32_t> contexts;
  contexts.reserve(peers.size());
  for (const MemberInfo& one : peers) contexts.push_back(one.*context);
  set_routes(comm, processes, std::move(contexts));
}

void set_local(Comm& comm, std::span<const MemberInfo> members) {
  const wire::ProcessName& self = comm.library->device->processes().own_name();
  const auto is_self = [&](const MemberInfo& one) { return name_of(one) == self; };
  const auto at = std::find_if(members.begin(), members.end(), is_self);
  comm.rank = static_cast<int>(at - members.begin());
  comm.local_size = static_cast<int>(members.size());
}

base::Result<Group*> make_group(Library& library, const ProcessList& processes, int rank,
                                std::uintptr_t session) {
  auto* group = library.make<Group>(processes, rank);
  if (group == nullptr) {
    return failure(ErrorClass::no_mem, "no memory for the group of another communicator");
  }
  group->session = session;
  return group;
}

Error refuse_overlap(const MemberTable& members) {
  std::vector<wire::ProcessName> local;
  local.reserve(members.local.size());
  for (const MemberInfo& one : members.local) local.push_back(name_of(one));
  std::sort(local.begin(), local.end());
  for (std::size_t rank = 0; rank < members.remote.size(); ++rank) {
    if (!std::binary_search(local.begin(), local.end(), name_of(members.remote[rank]))) continue;
    return failure(ErrorClass::comm,
                   "rank %zu of the remote group is also in the local group; the groups of an "
                   "intercommunicator must have no process in common",
                   rank);
  }
  return {};
}

/// The remote side, and the communicator of the local group alone.
Error settle_inter(Comm& comm, const MemberTable& members, const ProcessList& local) {
  const auto named = processes_of(*comm.library, members.remote);
  if (named.failed()) return named.error();
  const ProcessList& processes = named.value();
  set_routes(comm, processes, members.remote, &MemberInfo::context);
  Comm& inner = *comm.local_comm;
  inner.session = comm.session;
  set_local(inner, members.local);
  set_routes(inner, local, members.local, &MemberInfo::local_context);
  inner.group = comm.group;
  comm.library->acquire(*comm.group);
  const auto remote = make_group(*comm.library, processes, Group::no_rank, comm.session);
  if (remote.failed()) return remote.error();
  comm.remote_group = remote.value();
  return {};
}

}  // namespace

namespace {

/// Applies failures of its processes, and messages from them, that preceded its completion.
void catch_up(Comm& comm) {
  note_failed_members(comm);
  if (comm.library->recovery != nullptr) comm.library->recovery->settled(comm);
}

}  // namespace

Error settle(Comm& comm, std::uintptr_t session, const MemberTable& members) {
  if (comm.is_inter) {
    if (const Error overlap = refuse_overlap(members); overlap.failed()) return overlap;
  }
  comm.session = session;
  set_local(comm, members.local);
  const auto named = processes_of(*comm.library, members.local);
  if (named.failed()) return named.error();
  const ProcessList& local = named.value();
  const auto group = make_group(*comm.library, local, comm.rank, session);
  if (group.failed()) return group.error();
  comm.group = group.value();
  if (comm.is_inter) {
    const Error error = settle_inter(comm, members, local);
    if (error.ok()) catch_up(comm);
    return error;
  }
  set_routes(comm, local, members.local, &MemberInfo::context);
  settle_board(comm, local, members.local);
  catch_up(comm);
  return {};
}

Error settle(Comm& comm, std::uintptr_t session, const AgreedMembers& members) {
  const ProcessList& processes = members.processes;
  comm.session = session;
  comm.library->world->contexts.give_back(comm.context);
  comm.context = members.context;
  comm.numbered = false;
  comm.rank = members.rank;
  comm.local_size = processes.size();
  const auto group = make_group(*comm.library, processes, comm.rank, session);
  if (group.failed()) return group.error();
  comm.group = group.value();
  set_routes(comm, processes, std::vector{members.context});
  settle_board(comm, processes, members.free_boards, members.newest_round);
  catch_up(comm);
  return {};
}

void inherit_errhandler(Comm& comm, const Comm& parent) noexcept {
  if (parent.errhandler != nullptr) {
    (void)set_errhandler(*comm.library, comm, *parent.errhandler);
  }
}

}  // namespace fulmar::mpi
