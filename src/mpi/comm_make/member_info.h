// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/comm_make/creation.h"
#include "mpi/p2p/message.h"

/// The exchange of announcements among the makers of a communicator. It costs a collective area
/// round, or log2(n) messages of each process; between groups also one message each way of the
/// leaders and a broadcast. Large communicators exchange less: context_agreement.h.
namespace fulmar::mpi {

/// Communicator, channel and tag of one exchange, which distinguish its messages from all others.
struct Line {
  Comm& comm;
  Channel channel;
  int tag;
};

/// Whether nothing was received of a member, because a process has failed.
[[nodiscard]] inline bool is_missing(const MemberInfo& member) noexcept { return member.job == 0; }

/// The line of the next collective call on `comm`. Every rank takes it, in the same order.
[[nodiscard]] Line next_line(Comm& comm) noexcept;

/// The announcements of all ranks of the line's intracommunicator, by rank.
base::Error announce(const Line& line, const MemberInfo& own, std::vector<MemberInfo>& all);

/// MPIX_ERR_PROC_FAILED: the exchange ended without what a process has to say.
[[nodiscard]] base::Error incomplete_exchange();
/// The same, once this process knows which has failed; waits for that, but not for ever.
[[nodiscard]] base::Error missing_member(const Comm& comm);

/// The leader of a group, which communicates with that of the other group.
struct Leader {
  int rank;         ///< of the leader, in the group
  int remote_rank;  ///< of the other leader on `across`; significant at the leader
  /// Communicator and tag between the leaders; significant at the leader. Null makes the exchange
  /// fail, because of `no_line`.
  const Line* across;
  base::Error no_line;
};

/// Gets the other group's announcements for all of a group, whose own are in `member_table`.
/// Without a line between the leaders all but the leader get an error, and the leader, which has
/// one already, success.
base::Error meet(const Line& inside, const Leader& leader, MemberTable& member_table);

/// The announcements of all processes of a communicator of either shape.
base::Error gather_member_info(Comm& comm, const MemberInfo& own, MemberTable& member_table);
/// The same on a line of that communicator.
base::Error gather_member_info(const Line& line, const MemberInfo& own, MemberTable& member_table);

}  // namespace fulmar::mpi
