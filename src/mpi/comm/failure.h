// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"
#include "mpi/comm/comm.h"

/// Errors of calls that need a process which has failed: MPIX_ERR_PROC_FAILED of mpi-ext.h.
namespace fulmar::mpi {

/// Whether a process is in the local or the remote group.
[[nodiscard]] bool includes(const Comm& comm, std::uint32_t process) noexcept;

/// The error of a call that needs this process of the communicator: names its rank, and says why it
/// counts as failed.
[[nodiscard]] base::Error process_error(const Comm& comm, std::uint32_t process);

/// The error of a call that needs all processes of the communicator; success while none has failed.
[[nodiscard]] inline base::Error failure_of(const Comm& comm) {
  return comm.failed_process == Comm::none_failed
             ? base::Error{}
             : process_error(comm, static_cast<std::uint32_t>(comm.failed_process));
}

/// The error of a send or receive that is done: with a text where its process has failed.
[[nodiscard]] base::Error operation_error(const Comm& comm, const device::Operation& operation);

}  // namespace fulmar::mpi
