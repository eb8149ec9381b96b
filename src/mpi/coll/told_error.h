// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "base/error.h"
#include "mpi/comm/comm.h"

namespace fulmar::mpi {

/// Collective, once all know that `rank` is the lowest that has failed, and its error code: the error that a
/// call ends with. A rank that has failed keeps its own (`mine`); the others get the text of `rank`, behind
/// "rank N of the ..." (`of_what`).
[[nodiscard]] base::Error told_error(Comm& comm, const base::Error& mine, int rank, int code,
                                     const char* of_what);

}  // namespace fulmar::mpi
