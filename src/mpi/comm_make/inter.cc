// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/comm/calls.h"
#include "mpi/comm_make/bridge.h"
#include "mpi/comm_make/calls.h"

/// Intercommunicators from two groups, and one group from an intercommunicator (MPI 5.0 sections
/// 7.6.2 and 7.4.2). The groups need not know each other: each collects its announcements, the
/// leaders exchange them, and each tells its group what it heard. Whoever fails before says so in
/// its announcement, so that the call ends everywhere.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// What a leader was given to find the other one.
Error check_peer(const Comm* peer_comm, int remote_leader) {
  if (peer_comm == nullptr) {
    return failure(ErrorClass::comm,
                   "argument peer_comm: no communicator; the local leader must give one in which "
                   "it can reach the remote leader");
  }
  if (remote_leader >= 0 && remote_leader < peer_comm->remote_size) return {};
  return failure(ErrorClass::rank,
                 "argument remote_leader: rank %d is outside argument peer_comm, whose ranks go "
                 "from 0 to %d",
                 remote_leader, peer_comm->remote_size - 1);
}

/// What both ways to make an intercommunicator have in common. `so_far` is why this process, the
/// leader, cannot meet the other one.
Error unite(NewComm& fresh, const Line& inside, const Leader& leader, const Error& so_far) {
  Census census;
  const Error refused = failure_so_far(inside.comm, {});
  const Error announced =
      announce(inside, fresh.announcement(refused, NewComm::Boards::none), census.local);
  const Error met = meet(inside, leader, census);
  if (so_far.failed()) return so_far;
  if (announced.failed()) return announced;
  if (met.failed()) return met;
  if (const Error error = check_census(census); error.failed()) return error;
  return settle(*fresh.comm(), inside.comm.session, census);
}

Error check_rank(const char* argument, int rank, const Group& group) {
  if (rank >= 0 && rank < group.size()) return {};
  return failure(ErrorClass::rank, "argument %s: rank %d is outside its group of size %d", argument,
                 rank, group.size());
}

/// Members of both groups, the one with the lower claim first.
Error line_up(Census& census) {
  for (const std::vector<Announcement>* group : {&census.local, &census.remote}) {
    const auto differs = [&](const Announcement& one) { return one.color != group->front().color; };
    const auto at = std::find_if(group->begin(), group->end(), differs);
    if (at == group->end()) continue;
    return failure(ErrorClass::arg,
                   "argument high: rank %d of the %s group gives another value than rank 0; all of "
                   "a group must give the same",
                   static_cast<int>(at - group->begin()),
                   group == &census.local ? "local" : "remote");
  }
  const Announcement& local = census.local.front();
  const Announcement& remote = census.remote.front();
  const bool remote_first =
      local.color != remote.color ? remote.color < local.color : remote.process < local.process;
  if (remote_first) std::swap(census.local, census.remote);
  census.local.insert(census.local.end(), census.remote.begin(), census.remote.end());
  census.remote.clear();
  return {};
}

}  // namespace

Error intercomm_create(Library& library, Comm& local_comm, int local_leader, MPI_Comm peer_comm,
                       int remote_leader, int tag, MPI_Comm& out) {
  out = MPI_COMM_NULL;
  if (local_comm.is_inter) {
    return failure(ErrorClass::comm, "argument local_comm: must be an intracommunicator");
  }
  Comm* peer = library.find<Comm>(peer_comm);
  Error so_far;
  std::optional<Line> across;
  if (local_comm.rank == local_leader) {
    so_far = check_peer(peer, remote_leader);
    if (so_far.ok()) across.emplace(*peer, Channel::leaders, tag);
  }
  NewComm fresh(library, NewComm::Shape::inter);
  const Leader leader{local_leader, remote_leader, across ? &*across : nullptr};
  const Error error = unite(fresh, next_line(local_comm), leader, so_far);
  if (error.failed()) return error;
  inherit_errhandler(*fresh.comm(), local_comm);
  fresh.give(out);
  return {};
}

Error intercomm_create_from_groups(Library& library, ErrorTarget& target, Group& local_group,
                                   int local_leader, MPI_Group remote_group, int remote_leader,
                                   std::string_view stringtag, Info* info, Errhandler& errhandler,
                                   MPI_Comm& out) {
  if (const Error bad = raise_on(library, target, errhandler); bad.failed()) return bad;
  const base::Result<int> tag = tag_of(stringtag);
  if (tag.failed()) return tag.error();
  out = MPI_COMM_NULL;
  if (local_group.size() == 0) return {};
  if (local_group.rank == Group::no_rank) {
    return failure(ErrorClass::group, "argument local_group: this process is not a member");
  }
  Error bad = check_rank("local_leader", local_leader, local_group);
  if (bad.failed()) return bad;
  Comm bridge(library);
  make_bridge(bridge, local_group);
  Comm leader_bridge(library);
  Leader leader{local_leader, 0, nullptr};
  const Line across{leader_bridge, Channel::user, tag.value()};
  if (local_group.rank == local_leader) {
    const Group* remote = library.find<Group>(remote_group);
    bad = remote != nullptr ? check_rank("remote_leader", remote_leader, *remote)
                            : failure(ErrorClass::group, "argument remote_group: no group");
    if (bad.ok()) {
      make_leader_bridge(leader_bridge, remote->processes[remote_leader]);
      leader.across = &across;
    }
  }
  NewComm fresh(library, NewComm::Shape::inter);
  const Error error = unite(fresh, {bridge, Channel::user, tag.value()}, leader, bad);
  if (error.failed()) return error;
  if (bad = set_errhandler(library, *fresh.comm(), errhandler); bad.ok()) {
    bad = comm_set_info(*fresh.comm(), info);
  }
  fresh.give(out);
  return bad;
}

Error intercomm_merge(Library& library, Comm& comm, int high, MPI_Comm& out) {
  out = MPI_COMM_NULL;
  if (!comm.is_inter) {
    return failure(ErrorClass::comm,
                   "argument intercomm: is an intracommunicator; there is nothing to merge");
  }
  NewComm fresh(library, NewComm::Shape::intra);
  Announcement own = fresh.announcement(failure_so_far(comm, {}), NewComm::Boards::offer);
  own.color = high != 0 ? 1 : 0;
  Census census;
  if (const Error error = take_census(comm, own, census); error.failed()) return error;
  if (const Error error = check_census(census); error.failed()) return error;
  if (const Error error = line_up(census); error.failed()) return error;
  if (const Error error = settle(*fresh.comm(), comm.session, census); error.failed()) return error;
  inherit_errhandler(*fresh.comm(), comm);
  fresh.give(out);
  return {};
}

}  // namespace fulmar::mpi
