// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "mpiexec/options.h"

namespace fulmar::mpiexec {

/// A program of others that starts ranks on several hosts.
struct FoundManager {
  Manager kind = Manager::hydra;
  std::string file;
  std::string plugin;  ///< of Slurm: what --mpi should say; empty: as its settings say
};

/// The input of a search: the real environment, or a test's.
struct ManagerSearch {
  std::string_view path;  ///< folders, separated by ':'
  /// The value of a variable; null when it is not set.
  const char* (*variable)(const char* name);
};

/// Finds the launcher for ranks on other hosts: in an allocation of Slurm its srun, else prterun,
/// else Hydra under any of its names, or the one kind that is wanted. What says it is Fulmar's own
/// is passed over. Asks programs for their version, for at most a few seconds. Fails (spawn) with
/// what was looked for and what to install.
base::Result<FoundManager> find_manager(Manager wanted, const ManagerSearch& search);

/// Whether this process runs in a Slurm allocation of several nodes, and not as one of several
/// tasks in it, so that whoever gives no hosts means all of them.
[[nodiscard]] bool in_wide_allocation(const ManagerSearch& search);

/// The kind of a launcher, by its version text. Automatic: none that is supported.
[[nodiscard]] Manager maker_of(std::string_view version_text);

}  // namespace fulmar::mpiexec
