// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm_make/bridge.h"

namespace fulmar::mpi {

void make_bridge(Comm& bridge, const Group& group, std::uint32_t own_context,
                 std::vector<std::uint32_t> contexts) {
  bridge.device = bridge.library->device;
  bridge.session = group.session;
  bridge.context = own_context;
  bridge.rank = group.rank;
  bridge.local_size = bridge.remote_size = group.size();
  bridge.routes = Routes(group.processes, std::move(contexts));
}

void make_bridge(Comm& bridge, const Group& group) {
  constexpr std::uint32_t context = ContextIds::group_creation;
  make_bridge(bridge, group, context, context);
}

void make_leader_bridge(Comm& bridge, ProcessId peer) {
  constexpr std::uint32_t context = ContextIds::group_creation | Comm::leader_bits;
  bridge.device = bridge.library->device;
  bridge.is_inter = true;
  bridge.context = context;
  bridge.local_size = bridge.remote_size = 1;
  bridge.routes = {peer, 1, context};
}

base::Result<int> tag_of(std::string_view stringtag) {
  if (stringtag.size() >= MPI_MAX_STRINGTAG_LEN) {
    return base::failure(base::ErrorClass::arg, "argument stringtag: %zu bytes; %d are allowed",
                         stringtag.size(), MPI_MAX_STRINGTAG_LEN - 1);
  }
  // FNV-1a, folded to the range of tags.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : stringtag) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return static_cast<int>((hash ^ (hash >> 32)) & static_cast<std::uint64_t>(largest_tag));
}

base::Error take_refusal(Library& library) noexcept {
  return std::exchange(library.refused, false) ? base::Error(base::ErrorClass::arg) : base::Error();
}

}  // namespace fulmar::mpi
