// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/tool/tool.h"

namespace fulmar::runtime {

/// The state behind MPI_T of this process. Thread-safe; its members need the lock of the library.
[[nodiscard]] mpi::Tool& tool();

// Start and end of MPI_T (MPI 5.0 section 15.3.4), which are counted. They return what the C
// functions return.

/// MPI_THREAD_MULTIPLE keeps the lock of the library on. It is provided only where the lock can be
/// on: before MPI_Init, after MPI_Finalize, or when MPI has that level too.
int t_init_thread(int required, int* provided);
int t_finalize();

}  // namespace fulmar::runtime
