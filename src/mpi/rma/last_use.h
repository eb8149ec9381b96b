// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "mpi/library.h"

namespace fulmar::mpi {

/// For MPI_Finalize and MPI_Session_finalize, which may synchronise (MPI 5.0 sections 11.2.2 and 11.3.1): windows that
/// the program has not freed are used by other ranks until these, too, come to the end. Returns when all ranks of
/// all such windows have called this; of a window of which a process has failed, when that is known.
/// `session`: whose windows; 0: those of the world.
void await_other_users(Library& library, std::uintptr_t session);

}  // namespace fulmar::mpi
