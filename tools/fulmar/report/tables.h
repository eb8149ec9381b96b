// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

#include "fulmar/report/series.h"

namespace fulmar::report {

/// HTML tables of all figures: one table with a column per test for a single library, else a table
/// per test with a column per library and how far the first is ahead of the best other.
std::string tables(const Subjects& subjects);

/// The highlights of the first library as tiles.
std::string tiles(const Subjects& subjects);

}  // namespace fulmar::report
