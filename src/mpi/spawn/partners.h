// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "mpi/comm_make/creation.h"

/// How the processes of two groups that have met learn of each other's end: no launcher reports processes of one job
/// to another.
namespace fulmar::mpi {

/// Connects each process of a new intercommunicator to one of the other group at least. From then on its death is an event
/// of that connection. A process that dies before is found by the one that waits for it here, which tries to
/// reach it after a second. What fails here fails in the first call that needs it.
void connect_partners(Comm& comm);

/// For a process in which the communicator could not be made in the last step, while the other group may have made it:
/// revokes it there, so that nobody waits for this process. `session`, `members`: as for `settle`.
void withdraw(Comm& comm, std::uintptr_t session, const MemberTable& members);

}  // namespace fulmar::mpi
