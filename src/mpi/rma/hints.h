// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/info/info.h"
#include "mpi/rma/win.h"

namespace fulmar::mpi {

/// Keeps the hints of MPI 5.0 section 12.2.1 to 12.2.3 that `info` (may be null) has; unknown keys
/// and values that mean nothing are ignored.
void keep_hints(Win& win, const Info* info);

}  // namespace fulmar::mpi
