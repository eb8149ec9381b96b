// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

namespace fulmar::layers {

/// What `fulmar bench layers` was asked for.
struct Options {
  double milliseconds = 60;          ///< for one figure
  std::string html = "layers.html";  ///< the page to write
};

/// Measures each setting in a job of two ranks of its own, says how far it is, and draws the page.
/// Settings whose job fails are left out, and named. Returns the exit code: 0 if the page was
/// written and something was measured.
int run(const Options& options);

}  // namespace fulmar::layers
