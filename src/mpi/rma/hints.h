// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/info/info.h"
#include "mpi/rma/win.h"

namespace fulmar::mpi {

/// When hints come: with the call that makes the window, or with MPI_Win_set_info, which cannot
/// change what the window's memory is like.
enum class HintTime : bool { making, later };

/// Keeps the hints of MPI 5.0 section 12.2.1 to 12.2.3 that `info` (may be null) has. Keys that are
/// unknown or mean nothing for a window of this flavor, and values without a meaning, are ignored.
void keep_hints(Win& win, const Info* info, HintTime time);

}  // namespace fulmar::mpi
