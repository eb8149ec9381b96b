// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::info {

/// Prints the control variables, performance variables and events of MPI_T by category.
void print_variables();
/// One line: how many of each there are.
void print_variable_counts();

}  // namespace fulmar::info
