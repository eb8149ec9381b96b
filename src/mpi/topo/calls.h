// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>

#include "mpi/args.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 chapter 8; see mpi/args.h.

/// Replaces the zeros in `dims` by factors of `nodes` that are as close to each other as they get,
/// in descending order (MPI 5.0 section 8.5.2). Fails with MPI_ERR_DIMS where `nodes` is no
/// multiple of the given ones, or not their product when none is to be chosen.
base::Error dims_create(int nodes, int count, std::span<int> dims);

/// MPI_UNDEFINED where the communicator has no topology, as all do today.
base::Error topo_test(Comm& comm, int& status);

}  // namespace fulmar::mpi
