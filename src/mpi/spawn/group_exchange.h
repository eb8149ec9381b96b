// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/error.h"
#include "mpi/comm/comm.h"
#include "mpi/spawn/port_service.h"

namespace fulmar::mpi {

/// The state of the root after it has opened the connection to the other root.
struct Opening {
  base::Result<PortService::Connected> connected;
  /// For all processes of the group, whether it was opened or not: error codes of MPI_Comm_spawn.
  std::vector<int> codes;
};
/// Opens the connection and sends `first` over it: see PortService. Called at the root only, once.
using OpenConnection =
    std::function<Opening(std::span<const std::byte> first, const GiveUp& give_up)>;

/// Makes an intercommunicator of the group of `comm` and the one at the other end of a connection
/// between the roots (MPI 5.0 section 11.9). Collective over both; fails in all processes of both
/// groups or in none, but where the connection breaks in the last step: then the group that has failed
/// revokes the communicator of the other one.
///
/// In three steps the roots exchange, and broadcast to their groups: the members and their
/// addresses; the keys that the jobs will share; whether all members are ready to be sent to.
/// `codes` gets Opening::codes of the root; it may be null.
///
/// The key of two jobs follows from the secret key of the one with the lower number and both
/// numbers (docs/adr/0024), so that it is the same wherever, and however often, the two connect.
///
/// Fails: comm, where `comm` is an intercommunicator or a process would be in both groups; what
/// `open` says; proc_failed; other, where a member cannot take part, or the two cannot reach each
/// other.
[[nodiscard]] base::Error connect_groups(Library& library, Comm& comm, int root,
                                         const OpenConnection& open, MPI_Comm& out,
                                         std::vector<int>* codes = nullptr);

}  // namespace fulmar::mpi
