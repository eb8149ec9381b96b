// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>

#include "mpi/spawn/launch_service.h"

namespace fulmar::runtime {

class Job;

/// The service of the launcher that started this job. Never null: where the launcher has none, its
/// calls fail with a text that says which launchers do. `job` outlives it.
[[nodiscard]] std::unique_ptr<mpi::LaunchService> make_launch_service(Job& job);

}  // namespace fulmar::runtime
