// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/library_access.h"

namespace fulmar::runtime {

constinit thread_local std::atomic<mpi::Library*> usable_library{nullptr};

}  // namespace fulmar::runtime
