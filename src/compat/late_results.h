// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>

#include "compat/handles.h"

namespace fulmar::compat {

/// How many results are kept for requests that are not complete.
extern std::atomic<int> late_result_count;

/// Keeps a request's communicator, which the library may change until the request is complete: that of
/// MPI_Comm_idup becomes MPI_COMM_NULL where the call fails. Returns where it is for the library; null without
/// memory. It stays until `settle_late_result` for good.
[[nodiscard]] MPI_Comm* keep_late_result(Foreign<MPI_Comm>* place);
/// The call has started the request, or failed (null); the program gets the handle that there is.
void start_late_result(MPI_Comm* result, MPI_Request request);
/// The request is complete: gives the program what its result has become. Other requests have none.
[[gnu::cold]] void settle_late_result(MPI_Request request);

/// To be called for each request that a call has ended.
inline void request_ended(MPI_Request request) {
  if (late_result_count.load(std::memory_order_relaxed) != 0) [[unlikely]]
    settle_late_result(request);
}

}  // namespace fulmar::compat
