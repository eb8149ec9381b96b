// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

#include "fulmar/measure/results.h"

namespace fulmar::report {

/// A timeline as an SVG element: time in ms on a linear axis, what the steps took on a logarithmic one, and areas where a
/// phase lies. Empty where there are no steps. `style` is the CSS class that gives the curve its colour.
std::string svg(const measure::Timeline& timeline, const std::string& title,
                const std::string& style);

}  // namespace fulmar::report
