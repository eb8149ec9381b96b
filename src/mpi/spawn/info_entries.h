// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "mpi/info/info.h"
#include "mpi/spawn/launch_service.h"

namespace fulmar::mpi {

/// All keys and values; none for MPI_INFO_NULL, which is a null pointer here.
[[nodiscard]] std::vector<InfoEntry> entries_of(const Info* info);

}  // namespace fulmar::mpi
