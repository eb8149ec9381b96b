// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "fulmar/measure/results.h"

namespace fulmar::measure {

/// What the channel design in use (FULMAR_CHANNEL) costs a message of `bytes` bytes: ranks 0 and 1
/// play ping-pong, and the counters of both are added up. Called by every rank of `comm`, which has
/// at least two; the result is valid on rank 0. Counters that this library does not have are left
/// out.
std::vector<Count> count_messages(MPI_Comm comm, std::size_t bytes);

}  // namespace fulmar::measure
