// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "mpi/comm_make/member_info.h"
#include "mpi/group/group.h"

/// Communicators that exist only while another one is made, where the participants have no common
/// parent communicator.
namespace fulmar::mpi {

/// A communicator of the members of the group. `context_of(i)` is the context of messages to member
/// i; those to this process carry `own_context`. This process is a member.
template <class ContextOf>
void make_bridge(Comm& bridge, const Group& group, std::uint32_t own_context,
                 ContextOf&& context_of) {
  bridge.device = bridge.library->device;
  bridge.session = group.session;
  bridge.context = own_context;
  bridge.rank = group.rank;
  bridge.local_size = bridge.remote_size = group.size();
  std::vector<std::uint32_t> contexts;
  contexts.reserve(static_cast<std::size_t>(group.size()));
  for (int i = 0; i < group.size(); ++i) contexts.push_back(context_of(i));
  bridge.routes = Routes(group.processes, std::move(contexts));
}
/// The same on the common context of all processes for this purpose; tags distinguish the calls.
void make_bridge(Comm& bridge, const Group& group);

/// Makes one to a single process, rank 0 of a remote group, on the context of all processes for
/// leaders.
void make_leader_bridge(Comm& bridge, ProcessId peer);

/// A tag for the stringtag of a call; MPI_ERR_ARG where it is too long.
base::Result<int> tag_of(std::string_view stringtag);

/// Why this process cannot take part in a call that makes a communicator from groups: it makes the
/// call again, to notify the others that its arguments are wrong (Library::refused). To be called
/// once in a call, before the first wait.
[[nodiscard]] base::Error take_refusal(Library& library) noexcept;

/// Sets the error handler of calls that make communicators from groups: the caller's argument
/// (MPI 5.0 section 7.4.2). MPI_ERR_ERRHANDLER where it is of the wrong kind.
base::Error raise_on(Library& library, ErrorTarget& target, Errhandler& errhandler);

}  // namespace fulmar::mpi
