// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"
#include "mpi/args.h"
#include "mpi/rma/win.h"

/// Puts and gets on memory of this node that is not mapped: windows of MPI_Win_create. The kernel copies
/// between the address spaces (process_vm_writev, process_vm_readv), so the target has nothing to
/// do. Accumulates take the way of requests, as such a copy is not atomic.
namespace fulmar::mpi {

enum class CopyDirection : std::uint8_t { put, get };

/// One run of memory of a target: `place` counts from its base.
struct TargetRun {
  int rank;
  std::int64_t place;
  std::int64_t bytes;
};

/// Copies `run.bytes` packed bytes of `origin` to or from the target. Waits for the lock of the
/// target if one was asked for. Sets `done` to false, and copies nothing, where requests have to be
/// used: the kernel does not let this process, or `run` is a short put, which is faster as a
/// request. Fails with the failure of operations before it.
[[nodiscard]] base::Error copy_by_kernel(Win& win, CopyDirection direction, const Data& origin,
                                         const TargetRun& run, bool& done);

}  // namespace fulmar::mpi
