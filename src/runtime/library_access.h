// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/library.h"

namespace fulmar::runtime {

/// The one global of the library: the MPI state of this process while communication is possible,
/// that is between MPI_Init and MPI_Finalize or while a session lives; nullptr otherwise, and while
/// calls are traced (api/library_state.h). Set by init and finalize only. A relaxed load is enough: a thread
/// may call MPI only after init has returned to it.
[[gnu::visibility("hidden")]] extern constinit std::atomic<mpi::Library*> usable_library;

/// The MPI state of this process, made at the first call. For calls that are allowed at any time.
/// Thread-safe; never destroyed.
[[nodiscard]] mpi::Library& library();

}  // namespace fulmar::runtime
