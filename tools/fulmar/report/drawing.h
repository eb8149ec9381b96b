// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <fmt/format.h>

#include <string>

#include "fulmar/report/chart.h"

/// What pictures are made of.
namespace fulmar::report {

/// Pixels of a picture, and from its edges to the plotting area.
inline constexpr double width = 640;
inline constexpr double left = 62;
inline constexpr double right = 16;
inline constexpr double top = 14;
inline constexpr double bottom = 46;

/// The start of an SVG element of that height; `label` is for those who do not see it.
inline std::string open_svg(double tall, const std::string& label) {
  return fmt::format("<svg viewBox='0 0 {:.0f} {:.0f}' role='img' aria-label='{}'>\n", width, tall,
                     escape(label));
}

inline std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line class='{}' x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}'/>\n", style,
                     x1, y1, x2, y2);
}

inline std::string text(double x, double y, const char* style, const std::string& content) {
  return fmt::format("<text class='{}' x='{:.1f}' y='{:.1f}'>{}</text>\n", style, x, y,
                     escape(content));
}

}  // namespace fulmar::report
