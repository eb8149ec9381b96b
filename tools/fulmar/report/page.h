// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

#include "fulmar/measure/results.h"

namespace fulmar::report {

/// The report of one or several result files as one HTML page that needs nothing else: curves, dot
/// plots and tables. The first file is the subject; the others are drawn beside it. A file whose
/// tests are called raw-… gives the dashed lines of what the machine can do without MPI.
std::string page(const std::vector<measure::Results>& files);

}  // namespace fulmar::report
