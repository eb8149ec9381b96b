// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "mpiexec/options.h"

/// The options that mpiexec knows, as data: one row each. The parser and --help read the same rows.
namespace fulmar::mpiexec {

/// Where an option writes: the whole command line and the program being described.
struct OptionTarget {
  Options& options;
  Program& program;
};

struct OptionRow {
  std::string_view names;  ///< without dashes, separated by blanks; the first one is shown in texts
  std::size_t value_count;  ///< arguments that follow
  std::string_view values;  ///< how --help calls them
  std::string_view help;    ///< empty: another name for the sake of scripts, not shown
  /// Stores the values.
  base::Error (*apply)(const OptionTarget& target, std::span<const std::string> values);
};

std::span<const OptionRow> option_rows();

/// The row that has `name` (without dashes) among its names; null if there is none.
const OptionRow* find_option(std::string_view name);

/// The known name most like `name`; empty when none is near.
std::string_view nearest_option(std::string_view name);

}  // namespace fulmar::mpiexec
