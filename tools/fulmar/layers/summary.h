// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

#include "fulmar/layers/page.h"
#include "fulmar/layers/study.h"

/// The parts of the page that say the same as the terminal: under which circumstances the study was made, what each
/// sentence came to, and what of the papers is not there.
namespace fulmar::layers {

/// "holds here".
[[nodiscard]] const char* word_of(Outcome outcome);
/// The name by which a figure is found in the page.
[[nodiscard]] std::string anchor_of(const std::string& title);

[[nodiscard]] std::string heading_html(const Measured& measured,
                                       const Circumstances& circumstances);
[[nodiscard]] std::string conclusions_html(const Measured& measured, const Trees& trees);
/// Every figure and table of the papers: drawn, with a verdict, or why not.
[[nodiscard]] std::string experiments_html(const Measured& measured);

}  // namespace fulmar::layers
