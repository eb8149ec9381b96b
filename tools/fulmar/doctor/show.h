// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>
#include <string>

#include "fulmar/doctor/judge.h"

namespace fulmar::doctor {

/// A line for each finding and one for each remedy, under the names of the groups, and the counts.
std::string text_of(const Facts& facts, std::span<const Finding> findings);

/// The same as a JSON object: format "fulmar-doctor", version 1, host, system, library,
/// library_file, findings (group, name, verdict, found, remedy), counts (by verdict).
std::string json_of(const Facts& facts, std::span<const Finding> findings);

}  // namespace fulmar::doctor
