// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 sections 11.8 to 11.10; see mpi/args.h.

/// MPI_COMM_NULL: no process is spawned by another yet.
base::Error comm_get_parent(MPI_Comm& parent);

}  // namespace fulmar::mpi
