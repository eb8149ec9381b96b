// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "mpi/args.h"
#include "mpi/comm/comm.h"

namespace fulmar::mpi {

// User-level failure mitigation (mpi-ext.h documents each function); shrinking is in mpi/comm_make.
// All work on communicators that were revoked.

base::Error comm_revoke(Library& library, Comm& comm);
base::Error comm_is_revoked(Comm& comm, int& flag);
/// The failed processes of both groups of an intercommunicator, in the order in which they became
/// known.
base::Error comm_get_failed(Library& library, Comm& comm, MPI_Group& failed);
/// Acknowledges the first `count` of these, or all; never takes one back.
base::Error comm_ack_failed(Comm& comm, int count, int& acknowledged);
base::Error comm_failure_ack(Comm& comm);
base::Error comm_failure_get_acked(Library& library, Comm& comm, MPI_Group& acknowledged);
/// MPIX_ERR_PROC_FAILED in all processes where one of them had not acknowledged a failure; the flag
/// is agreed on nevertheless.
base::Error comm_agree(Library& library, Comm& comm, int& flag);
base::Error comm_iagree(Library& library, Comm& comm, int& flag, MPI_Request& request);

}  // namespace fulmar::mpi
