// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/comm/comm.h"

/// Collective calls in which this rank cannot take part, because its arguments do not
/// define its contribution. The ranks must still agree on the tag of the next call.
namespace fulmar::mpi {

/// Whether a function makes a persistent request: "MPI_Bcast_init".
[[nodiscard]] bool is_persistent_call(const char* name) noexcept;

/// Takes the tag of a call of this name that is not made, and records the call.
void skip_call(Comm& comm, const char* name) noexcept;
/// The same for a persistent one, whose request is not made.
void skip_persistent_call(Comm& comm, const char* name) noexcept;

/// For deadlock reports: others may wait for data of this rank. `name` must stay valid.
void note_left_out(Comm& comm, const char* name) noexcept;

}  // namespace fulmar::mpi
