// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <string_view>

namespace fulmar::mpiexec {

/// What a search for a program came to. `exit_code` follows the shells: 0 found, 126 there but not
/// executable, 127 not there.
struct FoundProgram {
  std::string file;  ///< to give to execve from the folder `wdir`
  int exit_code = 127;
  std::string problem;  ///< one sentence when not found
};

/// Looks for `name`: one with a slash is taken as it is, relative to `wdir` (empty: the present
/// folder); another is looked for in the folders of `first`, then of `path` (lists separated by
/// ':'), then in `wdir` itself.
FoundProgram find_program(const std::string& name, const std::string& wdir, std::string_view first,
                          std::string_view path);

}  // namespace fulmar::mpiexec
