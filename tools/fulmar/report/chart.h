// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fulmar::report {

enum class Scale { linear, logarithmic };
enum class Line { solid, dashed };

/// One curve. `style` is the CSS class that gives it its colour ("s0" … "s5", "raw0" … "raw3").
struct Curve {
  std::string label;
  std::string style;
  Line line = Line::solid;
  std::vector<std::pair<double, double>>
      points;  ///< (message size in bytes, value), by growing size
  struct Span {
    double bytes;
    double least;
    double most;
  };
  std::vector<Span> band = {};  ///< how far the value is known, by growing size
};

/// A value that others have measured.
struct Mark {
  std::string label;
  double bytes;
  double value;
};

/// A picture of values over message sizes; sizes are always on a logarithmic axis.
struct Chart {
  std::string title;
  std::string unit;  ///< of the values, written at the axis
  Scale scale = Scale::linear;
  std::vector<Curve> curves;
  std::vector<Mark> marks = {};
};

/// One row of a dot plot: the values of several libraries on one axis.
struct DotRow {
  std::string label;
  struct Dot {
    std::string label;
    std::string style;
    double value;
  };
  std::vector<Dot> dots;
};

/// The chart as an SVG element. It has no fonts or colours of its own: the page's style sheet gives
/// them.
std::string svg(const Chart& chart);

/// Rows of dots as an SVG element; `unit` is written at the axis.
std::string svg(const std::vector<DotRow>& rows, const std::string& unit,
                Scale scale = Scale::logarithmic);

/// Text in HTML or SVG: &, <, > and quotes replaced.
std::string escape(const std::string& text);

/// Three digits, without needless zeros: 0.098, 1.25, 31.4, 26100.
std::string short_number(double value);

}  // namespace fulmar::report
