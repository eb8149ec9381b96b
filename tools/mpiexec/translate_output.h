// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "base/error.h"
#include "mpiexec/handover.h"

namespace fulmar::mpiexec {

/// The error (arg) of an option that a process manager has nothing for.
[[nodiscard]] base::Error not_there(const char* manager, const char* option, const char* remedy);

/// Adds what each process manager calls labels, times, files of output, and reports on what was
/// placed where. Fails (arg) where it has nothing for one of them.
[[nodiscard]] base::Error add_hydra_output(const Options& options, Handover& out);
[[nodiscard]] base::Error add_prte_output(const Options& options, Handover& out);
[[nodiscard]] base::Error add_slurm_output(const Options& options, Handover& out);

}  // namespace fulmar::mpiexec
