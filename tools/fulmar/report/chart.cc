// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fulmar/measure/results.h"
#include "fulmar/report/axis.h"
#include "fulmar/report/drawing.h"

namespace fulmar::report {

namespace {

constexpr double height = 380;

struct Range {
  double least = std::numeric_limits<double>::max();
  double greatest = 0;

  void add(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  [[nodiscard]] bool empty() const { return greatest <= 0; }
};

/// Sizes are drawn by their binary logarithm.
struct Frame {
  Axis sizes;
  Axis values;
};

std::string value_axis(const Frame& frame, const std::string& unit) {
  std::string out;
  for (const double value : frame.values.minor_ticks()) {
    const double y = frame.values.pixel(value);
    out += line(left, y, width - right, y, "minor");
  }
  for (const double value : frame.values.ticks()) {
    const double y = frame.values.pixel(value);
    out += line(left, y, width - right, y, "grid");
    out += text(left - 8, y + 4, "tick end", short_number(value));
  }
  out += fmt::format("<text class='unit' transform='translate(14 {:.0f}) rotate(-90)'>{}</text>\n",
                     (height - bottom + top) / 2, escape(unit));
  return out;
}

std::string size_axis(const Frame& frame) {
  std::string out;
  const int first = static_cast<int>(std::ceil(frame.sizes.least()));
  const int last = static_cast<int>(std::floor(frame.sizes.greatest()));
  const int step = last - first > 12 ? 3 : last - first > 6 ? 2 : 1;
  for (int power = first; power <= last; ++power) {
    const double x = frame.sizes.pixel(power);
    const bool labelled = (power - first) % step == 0;
    out += line(x, top, x, height - bottom, labelled ? "grid" : "minor");
    if (labelled) {
      const auto bytes = std::size_t{1} << static_cast<unsigned>(power);
      out += text(x, height - bottom + 18, "tick middle", measure::size_text(bytes));
    }
  }
  out += text((left + width - right) / 2, height - 6, "unit", "message size");
  return out;
}

/// The range in which the curve lies, as an area.
std::string band(const Curve& curve, const Frame& frame) {
  std::string path;
  const auto add = [&](double bytes, double value) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L",
                        frame.sizes.pixel(std::log2(bytes)), frame.values.pixel(value));
  };
  for (const Curve::Span& span : curve.band) add(span.bytes, span.most);
  for (auto span = curve.band.rbegin(); span != curve.band.rend(); ++span) {
    add(span->bytes, span->least);
  }
  return path.empty() ? "" : fmt::format("<path class='band' d='{} Z'/>\n", path);
}

std::string draw(const Curve& curve, const Frame& frame, const std::string& unit) {
  std::string path;
  std::string dots;
  for (const auto& [size, value] : curve.points) {
    const double x = frame.sizes.pixel(std::log2(size));
    const double y = frame.values.pixel(value);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x, y);
    dots += fmt::format(
        "<circle cx='{:.1f}' cy='{:.1f}' r='{}'><title>{}, {}: {} {}</title></circle>\n", x, y,
        curve.line == Line::solid ? 2.6 : 1.6, escape(curve.label),
        measure::size_text(static_cast<std::size_t>(size)), short_number(value), unit);
  }
  const char* kind = curve.line == Line::solid ? "curve" : "limit";
  return fmt::format("<g class='{} {}'>{}<path d='{}'/>\n{}</g>\n", kind, curve.style,
                     band(curve, frame), path, dots);
}

std::string draw(const Mark& mark, const Frame& frame, const std::string& unit) {
  constexpr double half = 5;
  const double x = frame.sizes.pixel(std::log2(mark.bytes));
  const double y = frame.values.pixel(mark.value);
  return fmt::format(
      "<path class='mark' d='M{:.1f} {:.1f} l{} {} l-{} {} l-{} -{} Z'><title>{}: {} "
      "{}</title></path>\n"
      "<text class='tick' x='{:.1f}' y='{:.1f}'>{}</text>\n",
      x, y - half, half, half, half, half, half, half, escape(mark.label), short_number(mark.value),
      unit, x + 8, y + 4, short_number(mark.value));
}

}  // namespace

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string short_number(double value) {
  if (value == 0) {
    return "0";
  }
  const int whole_digits = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  const int decimals = std::max(0, 3 - std::max(whole_digits, 0));
  std::string out = fmt::format("{:.{}f}", value, decimals);
  if (out.find('.') != std::string::npos) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') {
      out.pop_back();
    }
  }
  return out;
}

std::string svg(const Chart& chart) {
  Range sizes;
  Range values;
  for (const Curve& curve : chart.curves) {
    for (const auto& [size, value] : curve.points) {
      sizes.add(size);
      values.add(value);
    }
    for (const Curve::Span& span : curve.band) {
      if (span.least > 0) values.add(span.least);
      values.add(span.most);
    }
  }
  for (const Mark& mark : chart.marks) {
    sizes.add(mark.bytes);
    values.add(mark.value);
  }
  if (sizes.empty() || values.empty()) {
    return "";
  }
  const double last = std::log2(std::max(sizes.greatest, sizes.least * 2));
  const Frame frame{Axis(Scale::linear, std::log2(sizes.least), last, left, width - right),
                    fitting_axis(chart.scale, values.least, values.greatest, height - bottom, top)};
  std::string out = open_svg(height, chart.title);
  out += size_axis(frame) + value_axis(frame, chart.unit);
  for (const Curve& curve : chart.curves) {
    out += draw(curve, frame, chart.unit);
  }
  for (const Mark& mark : chart.marks) {
    out += draw(mark, frame, chart.unit);
  }
  return out + "</svg>\n";
}

std::string svg(const std::vector<DotRow>& rows, const std::string& unit, Scale scale) {
  constexpr double row_height = 30;
  constexpr double label_width = 132;
  Range range;
  for (const DotRow& row : rows) {
    for (const auto& dot : row.dots) {
      range.add(dot.value);
    }
  }
  if (range.empty()) {
    return "";
  }
  const double end = top + row_height * static_cast<double>(rows.size());
  const Axis axis =
      fitting_axis(scale, range.least, range.greatest, label_width, width - right - 8);
  std::string out = open_svg(end + bottom, unit);
  for (const double value : axis.minor_ticks()) {
    out += line(axis.pixel(value), top, axis.pixel(value), end, "minor");
  }
  for (const double value : axis.ticks()) {
    out += line(axis.pixel(value), top, axis.pixel(value), end, "grid");
    out += text(axis.pixel(value), end + 18, "tick middle", short_number(value));
  }
  double y = top + row_height / 2;
  for (const DotRow& row : rows) {
    out += text(label_width - 12, y + 4, "tick end", row.label);
    out += line(label_width, y, width - right - 8, y, "grid");
    for (const auto& dot : row.dots) {
      out += fmt::format(
          "<g class='curve {}'><circle cx='{:.1f}' cy='{:.1f}' r='5.5'><title>{}, {}: {} "
          "{}</title></circle></g>\n",
          dot.style, axis.pixel(dot.value), y, escape(dot.label), escape(row.label),
          short_number(dot.value), unit);
    }
    y += row_height;
  }
  out += text((label_width + width - right) / 2, end + 40, "unit", unit);
  return out + "</svg>\n";
}

}  // namespace fulmar::report
