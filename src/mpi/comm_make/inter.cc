// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/comm/calls.h"
#include "mpi/comm_make/bridge.h"
#include "mpi/comm_make/calls.h"

/// Intercommunicators from two groups, and one group from an intercommunicator (MPI 5.0 sections
/// 7.6.2 and 7.4.2). The groups need not know each other: each gathers its announcements, the
/// leaders exchange them, and each broadcasts the other group's to its own. A member that fails
/// before includes the error in its announcement, so that the call ends everywhere.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// How a leader reaches the other one.
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

/// The leader that most members name; of several the lowest. -1: none. The value of a member that
/// cannot take part, perhaps because its argument is wrong, counts only to break ties. Those that
/// are missing, because a process has failed, name none.
int leader_of_most(const std::vector<MemberInfo>& members) {
  std::vector<std::size_t> votes(members.size());
  for (const MemberInfo& one : members) {
    if (is_missing(one) || one.color < 0 || static_cast<std::size_t>(one.color) >= votes.size())
      continue;
    votes[static_cast<std::size_t>(one.color)] += one.failed == 0 ? members.size() + 1 : 1;
  }
  const auto most = std::max_element(votes.begin(), votes.end());
  return most == votes.end() || *most == 0 ? -1 : static_cast<int>(most - votes.begin());
}

/// Members that name another leader than most fail, with the same result in all members.
Error agree_on_leader(std::vector<MemberInfo>& members, int leader, int own_rank) {
  Error error;
  for (MemberInfo& one : members) {
    if (is_missing(one) || one.failed != 0 || one.color == leader) continue;
    one.failed = told_class(Error(ErrorClass::rank));
    if (&one - members.data() != own_rank) continue;
    error = failure(ErrorClass::rank,
                    "argument local_leader: is rank %d, but others of the group give rank %d; all "
                    "must give the same",
                    one.color, leader);
  }
  return error;
}

/// Why a process cannot make an intercommunicator.
struct Trouble {
  Error refused;             ///< it cannot take part
  Error unreachable_leader;  ///< it is the leader, and cannot reach the other one
};

/// The common part of both calls that make an intercommunicator. Each member announces its leader
/// argument: a member with a wrong one does not know the actual leader, and does not need to.
Error unite(NewComm& fresh, const Line& inside, Leader leader, const Trouble& trouble) {
  MemberTable member_table;
  MemberInfo own = fresh.announcement(trouble.refused, NewComm::Boards::none);
  own.color = leader.rank;
  const Error announced = announce(inside, own, member_table.local);
  leader.rank = leader_of_most(member_table.local);
  const Error other_leader = agree_on_leader(member_table.local, leader.rank, inside.comm.rank);
  Error met;
  if (leader.rank >= 0) met = meet(inside, leader, member_table);
  for (const Error* const own_error :
       {&trouble.refused, &trouble.unreachable_leader, &other_leader}) {
    if (own_error->failed()) return *own_error;
  }
  if (announced.failed()) return announced;
  if (met.failed()) return met;
  if (const Error error = check_census(member_table); error.failed()) return error;
  return settle(*fresh.comm(), inside.comm.session, member_table);
}

Error check_rank(const char* argument, int rank, const Group& group) {
  if (rank >= 0 && rank < group.size()) return {};
  return failure(ErrorClass::rank, "argument %s: rank %d is outside its group of size %d", argument,
                 rank, group.size());
}

/// Concatenates the members of both groups, the one with the lower `high` first.
Error line_up(MemberTable& member_table) {
  for (const std::vector<MemberInfo>* group : {&member_table.local, &member_table.remote}) {
    const auto differs = [&](const MemberInfo& one) { return one.color != group->front().color; };
    const auto at = std::find_if(group->begin(), group->end(), differs);
    if (at == group->end()) continue;
    return failure(ErrorClass::arg,
                   "argument high: rank %d of the %s group gives another value than rank 0; all of "
                   "a group must give the same",
                   static_cast<int>(at - group->begin()),
                   group == &member_table.local ? "local" : "remote");
  }
  const MemberInfo& local = member_table.local.front();
  const MemberInfo& remote = member_table.remote.front();
  const bool remote_first =
      local.color != remote.color ? remote.color < local.color : name_of(remote) < name_of(local);
  if (remote_first) std::swap(member_table.local, member_table.remote);
  member_table.local.insert(member_table.local.end(), member_table.remote.begin(),
                            member_table.remote.end());
  member_table.remote.clear();
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
  const Error unreachable = check_peer(peer, remote_leader);
  std::optional<Line> across;  // also where others may know that this process leads
  if (unreachable.ok()) across.emplace(*peer, Channel::leaders, tag);
  Trouble trouble{failure_so_far(local_comm, {}), {}};
  if (local_comm.rank == local_leader) trouble.unreachable_leader = unreachable;
  NewComm fresh(library, NewComm::Shape::inter);
  const Leader leader{local_leader, remote_leader, across ? &*across : nullptr, unreachable};
  const Error error = unite(fresh, next_line(local_comm), leader, trouble);
  if (error.failed()) return error;
  inherit_errhandler(*fresh.comm(), local_comm);
  fresh.give(out);
  return {};
}

Error intercomm_create_from_groups(Library& library, Group& local_group, int local_leader,
                                   MPI_Group remote_group, int remote_leader,
                                   std::string_view stringtag, Info* info, Errhandler& errhandler,
                                   MPI_Comm& out) {
  Trouble trouble{take_refusal(library), {}};
  Error bad = set_errhandler(library, library.errors->new_comms, errhandler);
  if (bad.failed()) trouble.refused = bad;
  const base::Result<int> tag = tag_of(stringtag);
  if (tag.failed()) return tag.error();
  out = MPI_COMM_NULL;
  if (local_group.size() == 0) return {};
  if (local_group.rank == Group::no_rank) {
    return failure(ErrorClass::group, "argument local_group: this process is not a member");
  }
  bad = check_rank("local_leader", local_leader, local_group);
  if (trouble.refused.ok()) trouble.refused = bad;
  Comm bridge(library);
  make_bridge(bridge, local_group, tag.value());
  Comm leader_bridge(library);
  Leader leader{local_leader, 0, nullptr, {}};
  const Line across{leader_bridge, Channel::user, tag.value()};
  const Group* remote = library.find<Group>(remote_group);
  bad = remote != nullptr ? check_rank("remote_leader", remote_leader, *remote)
                          : failure(ErrorClass::group, "argument remote_group: no group");
  leader.no_line = bad;
  if (bad.ok()) {
    make_leader_bridge(leader_bridge, remote->processes[remote_leader], tag.value());
    leader.across = &across;
  }
  if (local_group.rank == local_leader) trouble.unreachable_leader = bad;
  NewComm fresh(library, NewComm::Shape::inter);
  const Error error = unite(fresh, {bridge, Channel::user, bridge.call_tag}, leader, trouble);
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
  MemberInfo own = fresh.announcement(failure_so_far(comm, {}), NewComm::Boards::offer);
  own.color = high != 0 ? 1 : 0;
  MemberTable member_table;
  if (const Error error = gather_member_info(comm, own, member_table); error.failed()) return error;
  if (const Error error = check_census(member_table); error.failed()) return error;
  if (const Error error = line_up(member_table); error.failed()) return error;
  if (const Error error = settle(*fresh.comm(), comm.session, member_table); error.failed())
    return error;
  inherit_errhandler(*fresh.comm(), comm);
  fresh.give(out);
  return {};
}

}  // namespace fulmar::mpi
