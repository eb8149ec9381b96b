// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

namespace fulmar::bench {

/// Whether a launcher started this process as a rank of a job.
bool started_by_launcher();

/// Replaces this process by `mpiexec -n ranks` (the one beside this program) of itself with these
/// arguments. Returns only on failure, with the reason.
std::string restart(int ranks, const std::vector<std::string>& arguments);

}  // namespace fulmar::bench
