// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fulmar/layers/applications.h"

namespace fulmar::layers {

/// What `fulmar bench layers` was asked for.
struct Options {
  double milliseconds = 20;           ///< for one figure in one round
  int rounds = 5;                     ///< all settings in turn so often; figures are medians
  std::size_t largest = SIZE_MAX;     ///< bytes of a message; sizes above are left out
  std::string html = "layers.html";   ///< the page to write
  int ranks = 0;                      ///< of rings; 0: as many as there are cores, but 4 to 16
  double seconds = 0;                 ///< after which nothing more is begun; 0: no limit
  std::string command;                ///< the words that asked for it, for the page
  std::vector<std::string> networks;  ///< "shm", "verbs"; empty: those that this host has
  ApplicationFolder nas;
};

/// Measures each setting in jobs of its own, says how far it is, and draws the page.
/// Settings whose job fails are left out, and named. Returns the exit code: 0 if the page was
/// written and something was measured.
int run(const Options& options);

}  // namespace fulmar::layers
