// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/library.h"

/// In place of the header of src/runtime with this name, for tests whose ranks are threads of one
/// process: each thread has a library of its own.
namespace fulmar::runtime {

/// Of the rank that this thread is.
[[gnu::visibility(
    "hidden")]] extern constinit thread_local std::atomic<mpi::Library*> usable_library;

[[nodiscard]] mpi::Library& library();

}  // namespace fulmar::runtime
