// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/comm_make/member_info.h"
#include "mpi/group/group.h"

/// Communicators that exist only while another one is made, where the participants have no common
/// parent communicator.
namespace fulmar::mpi {

/// A communicator of the members of the group, for messages to which `contexts` are the contexts:
/// one for each, or one for all. Those to this process carry `own_context`. This process is a
/// member. Its messages are those of its `call_tag`, which `tag` and the members make. A member that
/// has failed, or fails, ends the call in all others; no other process does.
void make_bridge(Comm& bridge, const Group& group, int tag, std::uint32_t own_context,
                 std::vector<std::uint32_t> contexts);
inline void make_bridge(Comm& bridge, const Group& group, int tag, std::uint32_t own_context,
                        std::uint32_t context) {
  make_bridge(bridge, group, tag, own_context, std::vector{context});
}
/// `context_of(i)` is the context of messages to member i.
template <class ContextOf>
  requires std::invocable<ContextOf&, int>
void make_bridge(Comm& bridge, const Group& group, int tag, std::uint32_t own_context,
                 ContextOf&& context_of) {
  std::vector<std::uint32_t> contexts;
  contexts.reserve(static_cast<std::size_t>(group.size()));
  for (int i = 0; i < group.size(); ++i) contexts.push_back(context_of(i));
  make_bridge(bridge, group, tag, own_context, std::move(contexts));
}
/// The same on the common context of all processes for this purpose; tags distinguish the calls.
void make_bridge(Comm& bridge, const Group& group, int tag);

/// Makes one to a single process, rank 0 of a remote group, on the context of all processes for
/// leaders, with this tag.
void make_leader_bridge(Comm& bridge, ProcessId peer, int tag);

/// A tag for the stringtag of a call; MPI_ERR_ARG where it is too long.
base::Result<int> tag_of(std::string_view stringtag);

/// Why this process cannot take part in a call that makes a communicator from groups: it makes the
/// call again, to notify the others that its arguments are wrong (Library::refused). To be called
/// once in a call, before the first wait.
[[nodiscard]] base::Error take_refusal(Library& library) noexcept;

}  // namespace fulmar::mpi
