// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "match/matcher.h"
#include "mpi/attr/attributes.h"
#include "mpi/comm/routes.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/info/info.h"

namespace fulmar::mpi {

class AreaTask;
class SendBuffer;
class StandIn;
struct Group;
struct Topology;
class NodeMap;
class CommRecovery;

/// A communicator (MPI 5.0 chapter 7). Made by `mpi/comm_make` and, for the predefined ones, by
/// `runtime`.
///
/// `group` is the local group; ranks in messages are those of `routes`, which is the local group of
/// an intracommunicator and the remote group of an intercommunicator. Pending operations hold
/// references, so the objects of a freed communicator live until they are done.
struct Comm : ErrorHolder {
  static constexpr ObjectKind object_kind = ObjectKind::comm;

  explicit Comm(Library& owner) noexcept;
  /// Releases groups, the error handler, and, where it is `numbered`, its context.
  /// Attributes have been deleted before (MPI_Comm_free calls their functions).
  ~Comm();

  /// Added to the context: messages of collective calls, and those that make communicators of a
  /// part of this one, or match partitioned requests, in place of the user's messages.
  static constexpr std::uint32_t collective_bit = 1;
  static constexpr std::uint32_t creation_bit = 2;
  static constexpr std::uint32_t partitioned_bit = 4;
  /// Messages between the leaders of two groups that become an intercommunicator.
  static constexpr std::uint32_t leader_bits = collective_bit | creation_bit;
  /// Messages of MPIX_Comm_shrink, which no failure and no revocation ends.
  static constexpr std::uint32_t recovery_bits = creation_bit | partitioned_bit;

  Library* library;
  device::Device* device = nullptr;
  int rank = 0;               ///< in the local group
  int remote_size = 0;        ///< how many ranks messages can name: size of `routes`
  std::uint32_t context = 0;  ///< context id of messages to this process; see ContextIds
  /// Of a temporary communicator for one call, which has its context with others in common: the tag
  /// of all its messages (mpi/comm_make/bridge.h). `no_tag`: it is none.
  static constexpr int no_tag = -1;
  int call_tag = no_tag;
  bool numbered = false;  ///< `context` is the communicator's own and is released at its end
  bool is_inter = false;
  bool identity = false;  ///< rank r is process r: the world and its duplicates
  Routes routes;
  Group* group = nullptr;         ///< one reference held
  Group* remote_group = nullptr;  ///< of an intercommunicator; one reference held
  /// The local group of an intercommunicator as a communicator of its own, for the part of
  /// collective calls within the group. Never visible to users. One reference held.
  Comm* local_comm = nullptr;
  AttributeSet attributes;
  std::string name_text;
  std::vector<Info::Entry> hints;
  std::uint32_t user_handles = 1;
  /// Pending operations whose requests the user has freed.
  std::uint32_t abandoned_requests = 0;
  /// Number of the next collective call, which makes its tag: calls of one communicator may be
  /// under way at the same time.
  std::uint32_t collective_calls = 0;
  /// The same for persistent ones.
  std::uint32_t persistent_calls = 0;
  /// A collective call was refused for its arguments and has not taken part yet (see
  /// mpi/coll/stand_in.h), or takes part in the making of a communicator as refused (api/making.h).
  bool refused = false;
  /// `collective_calls` at that time. Where an error handler did not return, `refused` stays set,
  /// and another call has been made since.
  std::uint32_t refused_at = 0;
  /// The replacement of wrong buffers for the current call, or nullptr.
  StandIn* stand_in = nullptr;
  /// The name of the last collective call in which this process could not take part because of an
  /// argument; nullptr if there was none. For deadlock reports.
  const char* left_out_of = nullptr;
  /// For short collective operations; nullptr where the members have none.
  std::unique_ptr<device::ShmCollArea> coll_area;
  /// The first of the active non-blocking calls on it; see
  /// mpi/coll/engine/area_queue.h.
  AreaTask* area_tasks = nullptr;
  /// The first of its processes that has failed; `none_failed` while none has. After that no
  /// collective call can be completed: see mpi/coll/failure.h.
  static constexpr std::int64_t none_failed = -1;
  std::int64_t failed_process = none_failed;
  /// MPIX_Comm_revoke was called, here or elsewhere: see mpi/recovery/recovery.h.
  bool revoked = false;
  /// How many failures the program has acknowledged: see failed_members.
  std::size_t acknowledged = 0;
  /// State of agreements and revocation, made at their first use; `end_recovery` is called when the
  /// communicator ends.
  CommRecovery* recovery = nullptr;
  void (*end_recovery)(CommRecovery&) noexcept = nullptr;
  /// The collective area of a communicator in which a process has failed; calls may still be
  /// returning from it.
  std::unique_ptr<device::ShmCollArea> failed_coll_area;
  std::size_t place = 0;  ///< in Library::comms
  /// The ranks by node, made at first use; see mpi/coll/node_map.h.
  std::shared_ptr<const NodeMap> nodes;
  /// The sorted table of Routes::rank_of, made at first use.
  std::vector<int> ranks_by_process;
  /// Handle of the session that it comes from, also through other communicators; 0: the world
  /// model.
  std::uintptr_t session = 0;
  /// The buffer attached by MPI_Comm_attach_buffer; see mpi/p2p/buffered.h, which also says what
  /// to do with it when the communicator ends.
  SendBuffer* send_buffer = nullptr;
  /// No more sends use that buffer: frees it, after its last message if there is one.
  void (*abandon_buffer)(SendBuffer&) noexcept = nullptr;
  /// See mpi/comm/topology.h; nullptr where it has none. Duplicates share it.
  std::shared_ptr<const Topology> topology;

  /// Ranks of the local group.
  [[nodiscard]] int size() const noexcept { return local_size; }
  int local_size = 0;

  /// Which rank (of `routes`) a process is; -1 if it is none.
  [[nodiscard]] int rank_of(std::uint32_t peer) noexcept {
    return identity ? static_cast<int>(peer) : routes.rank_of(peer, ranks_by_process);
  }
  /// Key of a message to `rank`, or of a receive from it. `rank` is in range.
  [[nodiscard]] match::Key key_to(int rank, int tag) const noexcept {
    const Route route = routes[rank];
    return {route.context, route.peer, tag};
  }
  [[nodiscard]] match::Key key_from(int rank, int tag) const noexcept {
    return {context, rank == MPI_ANY_SOURCE ? match::any_peer : routes[rank].peer,
            tag == MPI_ANY_TAG ? match::any_tag : tag};
  }
};

}  // namespace fulmar::mpi
