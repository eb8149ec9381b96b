// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "mpi/comm/comm.h"

/// Errors of calls that need a process which has failed: MPIX_ERR_PROC_FAILED of mpi-ext.h.
namespace fulmar::mpi {

/// Whether a process is in the local or the remote group.
[[nodiscard]] bool includes(const Comm& comm, std::uint32_t process) noexcept;

/// The error of a call that needs this process of the communicator: names its rank, and the cause
/// of the failure.
[[nodiscard]] base::Error process_error(const Comm& comm, std::uint32_t process);

/// MPIX_ERR_REVOKED: of calls that need a communicator which was revoked.
[[nodiscard]] base::Error revoked_error(const Comm& comm);

/// Whether collective calls of the communicator can still be completed.
[[nodiscard]] inline bool is_whole(const Comm& comm) noexcept {
  return comm.failed_process == Comm::none_failed && !comm.revoked;
}

/// The error of a call that needs all processes of the communicator; success while none has failed
/// and the communicator was not revoked.
[[nodiscard]] base::Error failure_of(const Comm& comm);

/// A call, or MPIX_Comm_get_failed, may have told the program of a failure whose consequences for communicators are still
/// being worked out: waits until they are, so that all processes which know of it see the communicator alike.
void await_known_failures(const Comm& comm);

/// Why a receive or probe will find no message.
[[nodiscard]] base::Error obstacle_error(const Comm& comm,
                                         const device::Failures::Obstacle& obstacle);

/// The processes of the communicator that are known to have failed, of both groups, in the order in
/// which that became known. The first `Comm::acknowledged` of them are acknowledged.
[[nodiscard]] std::vector<std::uint32_t> failed_members(const Comm& comm);

/// Whether receives from any source may ignore the failure of this process.
[[nodiscard]] bool is_acknowledged(const Comm& comm, std::uint32_t process);

/// The error of a send or receive that is done: with a text where its process has failed.
[[nodiscard]] base::Error operation_error(const Comm& comm, const device::Operation& operation);

}  // namespace fulmar::mpi
