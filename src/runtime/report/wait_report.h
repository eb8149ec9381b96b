// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "device/device.h"
#include "mpi/library.h"
#include "wire/node/wait_record.h"

namespace fulmar::runtime {

/// Writes what this rank waits for into its record of the job, for mpiexec's deadlock report.
/// Called only in long waits, so it may be slow: it finds the name of the
/// MPI call on the stack and the communicator by its number, and no other code keeps state for it.
///
/// Thread rule: the lock of the library.
class WaitReporter {
 public:
  WaitReporter(mpi::Library& library, wire::WaitRecord& record) noexcept
      : library_(library), record_(record) {}

  /// Returns the ranks that this one waits for, as in the record, also where nothing
  /// is written because another thread of this process may end the wait.
  wire::WaitBody write(const device::QuietWait& wait) noexcept;

 private:
  mpi::Library& library_;
  wire::WaitRecord& record_;
};

}  // namespace fulmar::runtime
