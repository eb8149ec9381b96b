// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/comm/comm.h"

namespace fulmar::mpi {

/// Whether a communicator has processes of several jobs, in its groups together. The same in all of
/// its members: the properties of a single job (nodes, FULMAR_COLL, whether ranks have cores of
/// their own) must not determine how they communicate then.
[[nodiscard]] bool spans_jobs(const Comm& comm) noexcept;

}  // namespace fulmar::mpi
