// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

#include "fulmar/measure/plan.h"

namespace fulmar::bench {

/// What `fulmar bench` was asked for.
struct Options {
  measure::Plan plan;
  int ranks = 2;     ///< if it has to start itself under mpiexec
  std::string json;  ///< file to write, or empty
  std::string html;
  std::vector<std::string> compare;  ///< result files of other runs
  std::string label;                 ///< for legends; empty: from the library's version text
  std::string commit;
  std::vector<std::size_t> counts;  ///< message sizes for which the library's counters are recorded
};

/// Runs the benchmark as a rank of a job, or starts itself as one. `arguments` are this program's
/// own, for that second start. Returns the exit code.
int run(const Options& options, const std::vector<std::string>& arguments);

}  // namespace fulmar::bench
