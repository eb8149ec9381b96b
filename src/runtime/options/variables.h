// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/tool/control.h"

namespace fulmar::runtime {

class Process;

/// The options of `process` as control variables of MPI_T. Reading and writing need the lock of the
/// library, and that the process is not just being initialised.
[[nodiscard]] mpi::VariableStore variable_store(Process& process) noexcept;

}  // namespace fulmar::runtime
