// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "mpi/comm/comm.h"

/// The effect of a failed process on communicators.
///
/// Messages between two living processes of a communicator go on. A receive from MPI_ANY_SOURCE
/// ends with MPIX_ERR_PROC_FAILED, as the failed process could have been the sender, and so does
/// one that is posted later, unless its message is there already. Collective calls need every
/// process: active ones end, on collective areas and with messages, and later ones fail at once.
/// Each process ends its own calls when it is notified of the failure, so it does not matter which
/// of them has completed a call before.
///
/// Thread rule: the lock of the library.
namespace fulmar::mpi {

/// A process of the job has failed, and the messages that name it have ended.
void process_failed(Library& library, std::uint32_t process);

/// Ends the collective calls of a communicator that was revoked, whose receives have ended.
void revoke_collective_calls(Comm& comm);

/// For a new communicator: records which of its processes have failed before.
void note_failed_members(Comm& comm);

}  // namespace fulmar::mpi
