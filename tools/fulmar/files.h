// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fulmar/measure/results.h"

namespace fulmar {

/// The result file at `path`. On failure `problem` names the file and says what is wrong.
std::optional<measure::Results> read_results(const std::string& path, std::string& problem);

/// All of them, or nothing and a `problem`.
std::optional<std::vector<measure::Results>> read_all_results(const std::vector<std::string>& paths,
                                                              std::string& problem);

/// Writes `text` to `path`, whose folders are made. Returns what went wrong, or an empty string.
std::string write_file(const std::string& path, const std::string& text);

}  // namespace fulmar
