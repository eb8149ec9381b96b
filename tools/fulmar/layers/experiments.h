// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

/// Every figure and table of the papers, in their order: where the study has it, or why it has not.
namespace fulmar::layers {

struct Experiment {
  std::string paper;
  std::string where;
  std::string drawn = {};   ///< titles of figures of the study, separated by "; "; empty: none
  std::string reason = {};  ///< why none
};

[[nodiscard]] std::vector<Experiment> experiments();

}  // namespace fulmar::layers
