// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

#include "fulmar/layers/probe.h"
#include "fulmar/layers/study.h"

namespace fulmar::layers {

/// Under which circumstances a study was made.
struct Circumstances {
  std::string command;  ///< its words
  int rounds = 0;
  int ranks = 2;  ///< of rings and what else takes all
  int cores = 0;  ///< that the study may use
  Probes probes;
  std::size_t disturbed = 0;          ///< rounds of settings that were left out for their probes
  std::vector<std::string> left_out;  ///< and why, a sentence each
  std::string no_applications;  ///< why not all were measured; stands where their figures would
};

/// The study as one HTML page that needs nothing else: a picture for each figure, next to the bare
/// machine where that was measured, with what the paper found and whether it holds here, and the
/// counts. Figures of which nothing was measured are left out.
///
/// `trees`: those of the traced runs, in tables of their own.
std::string page(const Measured& measured, const Trees& trees = {},
                 const Circumstances& circumstances = {});

/// The same for the terminal: the circumstances, and for each figure its verdict and the figures of this machine.
std::string summary(const Measured& measured, const Trees& trees = {},
                    const Circumstances& circumstances = {});

}  // namespace fulmar::layers
