// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/trace_file.h"

namespace fulmar::trace {

/// What `fulmar trace` was asked for.
struct Options {
  std::string folder;  ///< that of FULMAR_TRACE
  std::string html;    ///< a page to write; empty: none
  std::string chrome;  ///< a timeline to write; empty: none
};

/// The traces in a folder, by rank. On failure `problem` names the file and says what is wrong.
/// Traces of jobs of different sizes are refused: an old one has been left there.
std::optional<std::vector<wire::TraceFile>> read_folder(const std::string& folder,
                                                        std::string& problem);

/// Prints summary and tree, and writes what was asked for. Returns the exit code.
int run(const Options& options);

}  // namespace fulmar::trace
