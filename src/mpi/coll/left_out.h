// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/comm/comm.h"

/// Collective calls in which this rank cannot take its part, because their arguments do not say
/// what that is. The ranks must go on to agree on the number of the next call.
namespace fulmar::mpi {

/// Whether a function makes a persistent request: "MPI_Bcast_init".
[[nodiscard]] bool is_persistent_call(const char* name) noexcept;

/// Takes the number of a call of this name that is not made, and makes a note of it.
void skip_call(Comm& comm, const char* name) noexcept;
/// The same for a persistent one, whose request does not come to be.
void skip_persistent_call(Comm& comm) noexcept;

/// For reports of jobs that stand still: others may wait for data of this rank. `name` stays valid.
void note_left_out(Comm& comm, const char* name) noexcept;

}  // namespace fulmar::mpi
