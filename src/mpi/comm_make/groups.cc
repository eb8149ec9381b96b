// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <numeric>

#include "mpi/comm/calls.h"
#include "mpi/comm_make/calls.h"
#include "mpi/comm_make/creation.h"
#include "mpi/group/group.h"

/// Communicators made by the members of a group alone: the others are somewhere else in the
/// program. They talk over a communicator that exists only for this, with a tag that tells
/// simultaneous calls apart.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

/// The members of the group as ranks that can talk. `context_of(i)` is where messages to member i
/// go.
template <class ContextOf>
void make_bridge(Comm& bridge, const Group& group, ContextOf&& context_of) {
  bridge.device = bridge.library->device;
  bridge.session = group.session;
  bridge.rank = group.rank;
  bridge.local_size = bridge.remote_size = group.size();
  for (int i = 0; i < group.size(); ++i) {
    bridge.routes.push_back({group.processes[i], context_of(i)});
  }
}

Error make_over(Comm& bridge, int tag, NewComm& fresh) {
  Exchange exchange(bridge, Channel::user, tag);
  const std::vector<Announcement> all =
      announce(exchange, fresh.announcement({}, NewComm::Boards::offer));
  std::vector<int> ranks(all.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (exchange.result().failed()) return exchange.result();
  if (const Error error = check_announcements(all, ranks); error.failed()) return error;
  return settle(*fresh.comm(), bridge, all, ranks);
}

/// A tag for a text: FNV-1a, folded to the range of tags.
int tag_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return static_cast<int>((hash ^ (hash >> 32)) & static_cast<std::uint64_t>(largest_tag));
}

}  // namespace

Error comm_create_group(Library& library, Comm& comm, Group& group, int tag, MPI_Comm& out) {
  if (comm.is_inter) {
    return base::failure(ErrorClass::comm, "argument comm: must be an intracommunicator");
  }
  out = MPI_COMM_NULL;
  if (group.rank == Group::no_rank) return {};
  const RankFinder finder(comm.group->processes, group.size());
  for (int i = 0; i < group.size(); ++i) {
    if (finder.rank_of(group.processes[i]) >= 0) continue;
    return base::failure(ErrorClass::group,
                         "argument group: its rank %d is no process of the communicator", i);
  }
  Comm bridge(library);
  make_bridge(bridge, group, [&](int i) {
    const auto rank = static_cast<std::size_t>(finder.rank_of(group.processes[i]));
    return comm.routes[rank].context | Comm::creation_bit;
  });
  bridge.context = comm.context | Comm::creation_bit;
  NewComm fresh(library);
  if (const Error error = make_over(bridge, tag, fresh); error.failed()) return error;
  inherit_errhandler(*fresh.comm(), comm);
  fresh.give(out);
  return {};
}

Error comm_create_from_group(Library& library, ErrorTarget& /*target*/, Group& group,
                             std::string_view tag, Info* info, Errhandler& errhandler,
                             MPI_Comm& out) {
  if (tag.size() >= MPI_MAX_STRINGTAG_LEN) {
    return base::failure(ErrorClass::arg, "argument stringtag: %zu bytes; %d are allowed",
                         tag.size(), MPI_MAX_STRINGTAG_LEN - 1);
  }
  out = MPI_COMM_NULL;
  if (group.size() == 0) return {};
  if (group.rank == Group::no_rank) {
    return base::failure(ErrorClass::group, "argument group: this process is not a member");
  }
  Comm bridge(library);
  make_bridge(bridge, group, [](int) { return ContextIds::group_creation; });
  bridge.context = ContextIds::group_creation;
  NewComm fresh(library);
  if (fresh.comm() != nullptr) {
    const Error error = set_errhandler(library, *fresh.comm(), errhandler);
    if (error.failed()) return error;
  }
  if (const Error error = make_over(bridge, tag_of(tag), fresh); error.failed()) return error;
  const Error error = comm_set_info(*fresh.comm(), info);
  fresh.give(out);
  return error;
}

}  // namespace fulmar::mpi
