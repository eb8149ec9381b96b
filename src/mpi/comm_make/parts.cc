// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/attr/attributes.h"
#include "mpi/comm/calls.h"
#include "mpi/comm_make/calls.h"
#include "mpi/comm_make/member_info.h"
#include "mpi/group/group.h"

/// Communicators made of one that exists and whose processes all take part, those of both groups
/// of an intercommunicator; then the new one is an intercommunicator, too.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

AttributeOwner owner_of(Comm& comm) { return {comm.attributes, KeyvalKind::comm, comm.handle}; }

/// Announces, and makes the communicator of the members that `choose(MemberTable&)` keeps. Where a
/// group has none there is no communicator.
template <class Choose>
Error make_part(Library& library, Comm& parent, Error so_far, int color, int key, Choose&& choose,
                MPI_Comm& out) {
  out = MPI_COMM_NULL;
  so_far = failure_so_far(parent, so_far);
  NewComm fresh(library, shape_of(parent));
  MemberInfo own = fresh.announcement(so_far, NewComm::Boards::offer);
  own.color = color;
  own.key = key;
  MemberTable member_table;
  const Error exchanged = gather_member_info(parent, own, member_table);
  if (so_far.failed()) return so_far;
  if (exchanged.failed()) return exchanged;
  if (const Error error = check_census(member_table); error.failed()) return error;
  choose(member_table);
  if (member_table.local.empty() || (parent.is_inter && member_table.remote.empty())) return {};
  const Error error = settle(*fresh.comm(), parent.session, member_table);
  if (error.failed()) return error;
  inherit_errhandler(*fresh.comm(), parent);
  fresh.give(out);
  return {};
}

/// Keeps the members of one color, in the order of their keys.
void keep_color(std::vector<MemberInfo>& all, int color) {
  std::erase_if(all, [&](const MemberInfo& one) { return one.color != color; });
  std::stable_sort(all.begin(), all.end(),
                   [](const MemberInfo& a, const MemberInfo& b) { return a.key < b.key; });
}

/// Ranks in `comm` of the members of a group, by their rank in the group.
base::Result<std::vector<int>> ranks_of(const Comm& comm, const Group& group) {
  const RankFinder finder(comm.group->processes, group.size());
  std::vector<int> ranks;
  for (int i = 0; i < group.size(); ++i) {
    const int rank = finder.rank_of(group.processes[i]);
    if (rank < 0) {
      return base::failure(ErrorClass::group, "argument group: its rank %d is no process of the %s",
                           i,
                           comm.is_inter ? "local group of the intercommunicator" : "communicator");
    }
    ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

Error comm_dup_with_info(Library& library, Comm& comm, Info* info, MPI_Comm& out) {
  out = MPI_COMM_NULL;
  NewComm fresh(library, shape_of(comm));
  Error so_far;
  if (fresh.comm() != nullptr) {
    so_far = copy_attributes(library, owner_of(comm), owner_of(*fresh.comm()));
  }
  so_far = failure_so_far(comm, so_far);
  MemberTable member_table;
  const Error exchanged =
      gather_member_info(comm, fresh.announcement(so_far, NewComm::Boards::offer), member_table);
  if (so_far.failed()) return so_far;
  if (exchanged.failed()) return exchanged;
  if (const Error error = check_census(member_table); error.failed()) return error;
  const Error settled = settle(*fresh.comm(), comm.session, member_table);
  if (settled.failed()) return settled;
  inherit_errhandler(*fresh.comm(), comm);
  fresh.comm()->topology = comm.topology;
  const Error error = comm_set_info(*fresh.comm(), info);
  fresh.give(out);
  return error;
}

Error comm_dup(Library& library, Comm& comm, MPI_Comm& out) {
  return comm_dup_with_info(library, comm, nullptr, out);
}

Error comm_create(Library& library, Comm& comm, Group& group, MPI_Comm& out) {
  // The local group is known here completely. Members of the remote group announce their
  // rank.
  const base::Result<std::vector<int>> ranks = ranks_of(comm, group);
  const bool member = group.rank != Group::no_rank;
  const auto choose = [&](MemberTable& member_table) {
    std::vector<MemberInfo> members;
    if (member) {
      for (const int rank : ranks.value()) {
        members.push_back(member_table.local[static_cast<std::size_t>(rank)]);
      }
    }
    member_table.local = std::move(members);
    keep_color(member_table.remote, 0);
  };
  return make_part(library, comm, ranks.error(), member ? 0 : MPI_UNDEFINED, group.rank, choose,
                   out);
}

Error refuse_split(Library& library, Comm& comm, Error bad, MPI_Comm& out) {
  return make_part(library, comm, bad, MPI_UNDEFINED, 0, [](MemberTable&) {}, out);
}

Error comm_split(Library& library, Comm& comm, int color, int key, MPI_Comm& out) {
  const auto choose = [&](MemberTable& member_table) {
    if (color == MPI_UNDEFINED) {
      member_table = {};
      return;
    }
    keep_color(member_table.local, color);
    keep_color(member_table.remote, color);
  };
  return make_part(library, comm, {}, color, key, choose, out);
}

}  // namespace fulmar::mpi
