// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <optional>
#include <string>

#include "fulmar/measure/results.h"

namespace fulmar::measure {

/// The text of a result file (JSON, `"format": "fulmar-bench"`, version 1).
std::string to_json(const Results& results);

/// Reads the text of a result file. On failure `problem` says what is wrong.
std::optional<Results> from_json(const std::string& text, std::string& problem);

}  // namespace fulmar::measure
