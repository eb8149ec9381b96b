// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "fulmar/report/axis.h"
#include "fulmar/report/drawing.h"

namespace fulmar::report {

namespace {

constexpr double tall = 240;

/// From the first to the last step, not to round numbers: joining begins at 0.
Axis time_axis(const measure::Timeline& timeline) {
  return {Scale::linear, timeline.longest.front().end_ms, timeline.longest.back().end_ms, left,
          width - right};
}

Axis step_axis(const measure::Timeline& timeline) {
  const auto [least, most] = std::minmax_element(
      timeline.longest.begin(), timeline.longest.end(),
      [](const auto& a, const auto& b) { return a.microseconds < b.microseconds; });
  constexpr double ns = 1e-3;  // what the clock tells apart
  return fitting_axis(Scale::logarithmic, std::max(least->microseconds, ns),
                      std::max(most->microseconds, ns), tall - bottom, top);
}

std::string area(const measure::Timeline::Phase& phase, const Axis& time) {
  constexpr double thinnest = 2;
  const double from = time.pixel(phase.begin_ms);
  const double wide = std::max(time.pixel(phase.end_ms) - from, thinnest);
  return fmt::format(
             "<rect class='phase' x='{:.1f}' y='{:.1f}' width='{:.1f}' "
             "height='{:.1f}'><title>{}: {} ms</title></rect>\n",
             from, top, wide, tall - bottom - top, escape(phase.name),
             short_number(phase.end_ms - phase.begin_ms)) +
         text(from + wide / 2, top - 2, "tick middle", phase.name);
}

std::string axes(const Axis& time, const Axis& steps) {
  std::string out;
  for (const double value : steps.ticks()) {
    out += line(left, steps.pixel(value), width - right, steps.pixel(value), "grid");
    out += text(left - 8, steps.pixel(value) + 4, "tick end", short_number(value));
  }
  for (const double value : time.ticks()) {
    out += line(time.pixel(value), top, time.pixel(value), tall - bottom, "minor");
    out += text(time.pixel(value), tall - bottom + 18, "tick middle", short_number(value));
  }
  out += fmt::format("<text class='unit' transform='translate(14 {:.0f}) rotate(-90)'>{}</text>\n",
                     (tall - bottom + top) / 2, "longest step, µs");
  return out + text((left + width - right) / 2, tall - 6, "unit", "ms since it began to join");
}

}  // namespace

std::string svg(const measure::Timeline& timeline, const std::string& title,
                const std::string& style) {
  if (timeline.longest.size() < 2) return "";
  const Axis time = time_axis(timeline);
  const Axis steps = step_axis(timeline);
  std::string path;
  for (const measure::Timeline::Step& step : timeline.longest) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", time.pixel(step.end_ms),
                        steps.pixel(step.microseconds));
  }
  std::string out = open_svg(tall, title);
  for (const measure::Timeline::Phase& phase : timeline.phases) out += area(phase, time);
  out += axes(time, steps);
  return out + fmt::format("<g class='curve thin {}'><path d='{}'/></g>\n</svg>\n", style, path);
}

}  // namespace fulmar::report
