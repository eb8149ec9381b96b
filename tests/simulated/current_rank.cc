// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The rank whose turn it is, where ranks take turns within one thread.

#include <sched.h>

#include "runtime/library_access.h"

/// What a rank waits for comes from no other thread, so there is nothing to give the processor away
/// for, on a busy machine for a long time.
extern "C" int sched_yield() noexcept { return 0; }

namespace fulmar::runtime {

constinit std::atomic<mpi::Library*> usable_library{nullptr};

}  // namespace fulmar::runtime
