// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mutex>

namespace fulmar::runtime {

/// Serialises the calls that start and end MPI, which switch the lock of the library on and off and
/// so cannot use it. Taken before that one; recursive, as delete functions called by MPI_Finalize
/// may begin and end sessions.
[[nodiscard]] std::recursive_mutex& init_lock();

}  // namespace fulmar::runtime
