// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "mpi/library.h"
#include "runtime/job/job.h"
#include "runtime/network/networks.h"

namespace fulmar::runtime {

/// Whether this process has a communicator with that one.
[[nodiscard]] bool shares_comm_with(const mpi::Library& library, std::uint32_t peer) noexcept;

/// Gives back what is kept for processes of other jobs with which this process has no communicator any more
/// (decision 0055). Connections end when both sides find that; until then each misses the other if it dies. A job of which nothing is left, in groups
/// and operations neither, is forgotten with its key, and its ids become those of others.
///
/// Requires the lock of the library, and that no groups connect meanwhile: their jobs are known, and
/// connections are there, before the communicator is.
void release_other_jobs(const mpi::Library& library, const Job& job, Networks& networks);

}  // namespace fulmar::runtime
