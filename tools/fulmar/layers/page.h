// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

#include "fulmar/layers/study.h"

namespace fulmar::layers {

/// The study as one HTML page that needs nothing else: a picture for each figure, next to the bare
/// machine where that was measured, with what the paper found and whether it holds here, and the
/// counts. Figures of which nothing was measured are left out.
///
/// `trees`: those of the traced runs, in tables of their own. `lacking`: why applications were not
/// measured, which stands where their figures would.
std::string page(const Measured& measured, const Trees& trees = {},
                 const std::string& lacking = {});

/// One line for each figure: holds, differs or not measured, and the figures of this machine.
std::string summary(const Measured& measured, const Trees& trees = {});

}  // namespace fulmar::layers
