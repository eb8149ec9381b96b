// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/request/request.h"

namespace fulmar::mpi {

/// The kinds of requests that messages have.
extern const RequestKind send_request;
extern const RequestKind receive_request;
/// A receive from MPI_PROC_NULL.
extern const RequestKind null_receive_request;

/// Whether an operation is that of a receive request which the user still has: such a receive from
/// any source is interrupted when a process fails, and can go on.
[[nodiscard]] bool is_interruptible(const Library& library,
                                    const device::Operation& receive) noexcept;

/// Persistent ones: key, buffer and mode of the operation are set once. Buffered sends: buffered.h.
extern const RequestKind persistent_send_request;
extern const RequestKind persistent_receive_request;
extern const RequestKind persistent_null_send_request;
extern const RequestKind persistent_null_receive_request;

}  // namespace fulmar::mpi
