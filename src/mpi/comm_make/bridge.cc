// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm_make/bridge.h"

#include "mpi/coll/failure.h"

namespace fulmar::mpi {
namespace {

/// FNV-1a.
class Digest {
 public:
  void add(unsigned char byte) noexcept { hash_ = (hash_ ^ byte) * 0x100000001b3; }
  void add(std::uint32_t number) noexcept {
    for (int shift = 0; shift < 32; shift += 8) add(static_cast<unsigned char>(number >> shift));
  }
  /// Folded to the range of tags.
  [[nodiscard]] int tag() const noexcept {
    return static_cast<int>((hash_ ^ (hash_ >> 32)) & static_cast<std::uint64_t>(largest_tag));
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

/// The tag of a call's messages. Calls of one tag and with different members have different ones: the
/// messages of a call that failed may still be there when those that are left try again.
int tag_among(const Library& library, const Group& group, int tag) {
  Digest digest;
  digest.add(static_cast<std::uint32_t>(tag));
  for (int rank = 0; rank < group.size(); ++rank) {
    const auto name = library.device->processes().name_of(group.processes[rank]);
    if (!name) continue;
    digest.add(name->job);
    digest.add(name->rank);
    digest.add(name->engine);
  }
  return digest.tag();
}

}  // namespace

void make_bridge(Comm& bridge, const Group& group, int tag, std::uint32_t own_context,
                 std::vector<std::uint32_t> contexts) {
  bridge.device = bridge.library->device;
  bridge.session = group.session;
  bridge.context = own_context;
  bridge.call_tag = tag_among(*bridge.library, group, tag);
  bridge.rank = group.rank;
  bridge.local_size = bridge.remote_size = group.size();
  bridge.routes = Routes(group.processes, std::move(contexts));
  note_failed_members(bridge);
}

void make_bridge(Comm& bridge, const Group& group, int tag) {
  constexpr std::uint32_t context = ContextIds::group_creation;
  make_bridge(bridge, group, tag, context, context);
}

void make_leader_bridge(Comm& bridge, ProcessId peer, int tag) {
  constexpr std::uint32_t context = ContextIds::group_creation | Comm::leader_bits;
  bridge.device = bridge.library->device;
  bridge.is_inter = true;
  bridge.context = context;
  bridge.call_tag = tag;
  bridge.local_size = bridge.remote_size = 1;
  bridge.routes = {peer, 1, context};
  note_failed_members(bridge);
}

base::Result<int> tag_of(std::string_view stringtag) {
  if (stringtag.size() >= MPI_MAX_STRINGTAG_LEN) {
    return base::failure(base::ErrorClass::arg, "argument stringtag: %zu bytes; %d are allowed",
                         stringtag.size(), MPI_MAX_STRINGTAG_LEN - 1);
  }
  Digest digest;
  for (const char letter : stringtag) digest.add(static_cast<unsigned char>(letter));
  return digest.tag();
}

base::Error take_refusal(Library& library) noexcept {
  return std::exchange(library.refused, false) ? base::Error(base::ErrorClass::arg) : base::Error();
}

}  // namespace fulmar::mpi
