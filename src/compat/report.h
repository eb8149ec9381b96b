// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::compat {

/// What only a translating library runs out of.
enum class Problem {
  no_memory,
  too_many_operations,
  too_many_errhandlers,
  too_many_event_functions
};

/// Raises an error of the problem's class on MPI_COMM_SELF, with its text, and returns its code in the other ABI.
[[nodiscard]] int report(Problem problem);

}  // namespace fulmar::compat
