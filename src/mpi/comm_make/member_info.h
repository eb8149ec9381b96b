// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/comm_make/creation.h"
#include "mpi/p2p/message.h"

/// The exchange of announcements among those who make a communicator. It costs a collective area round, or
/// log2(n) messages of each process; between groups also one message each way of the leaders and
/// a broadcast.
namespace fulmar::mpi {

/// What keeps the messages of one exchange apart from all others.
struct Line {
  Comm& comm;
  Channel channel;
  int tag;
};

/// The line of the next collective call on `comm`. Every rank takes it, in the same order.
[[nodiscard]] Line next_line(Comm& comm) noexcept;

/// The announcements of all ranks of the line's intracommunicator, by rank.
base::Error announce(const Line& line, const MemberInfo& own, std::vector<MemberInfo>& all);

/// Who speaks for a group to the other one.
struct Leader {
  int rank;         ///< of the leader, in the group
  int remote_rank;  ///< of the other leader on `across`; significant at the leader
  /// Where the leaders meet; significant at the leader. Without it the meeting fails.
  const Line* across;
};

/// The other group's announcements, for all of a group whose own are in `census`. Without a line
/// between the leaders all but the leader get an error, and the leader, who has one already,
/// success.
base::Error meet(const Line& inside, const Leader& leader, MemberTable& member_table);

/// The announcements of all processes of a communicator of either shape.
base::Error gather_member_info(Comm& comm, const MemberInfo& own, MemberTable& member_table);

}  // namespace fulmar::mpi
