// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/library_access.h"

#include "runtime/process.h"

namespace fulmar::runtime {

constinit std::atomic<mpi::Library*> usable_library{nullptr};

mpi::Library& library() { return process().library(); }

}  // namespace fulmar::runtime
