// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/joining/record.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace fulmar::joining {

namespace {

constexpr double ns_per_ms = 1e6;
constexpr double ns_per_us = 1e3;

std::size_t at(Phase phase) { return static_cast<std::size_t>(phase); }

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// What the steps of a phase took.
std::vector<double> steps_of(const Record& record, std::size_t phase) {
  double last = phase == 0 ? record.begin_ns : record.ends_ns[phase - 1].back();
  std::vector<double> all;
  all.reserve(record.ends_ns[phase].size());
  for (const double end : record.ends_ns[phase]) {
    all.push_back(end - last);
    last = end;
  }
  return all;
}

/// Of one step. A batch that is not full counts where it is the only one.
double median_step(const std::vector<double>& steps) {
  constexpr std::size_t batch = 64;
  std::vector<double> means;
  for (std::size_t begin = 0; begin == 0 || begin + batch <= steps.size(); begin += batch) {
    const auto from = steps.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = std::min(batch, steps.size() - begin);
    means.push_back(std::accumulate(from, from + static_cast<std::ptrdiff_t>(count), 0.0) /
                    static_cast<double>(count));
  }
  return median_of(std::move(means));
}

measure::Series series(const char* test, int ranks, const std::vector<Figures>& all,
                       double (*figure)(const Figures&)) {
  std::vector<double> values;
  for (const Figures& each : all) values.push_back(figure(each));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const auto count = static_cast<std::uint32_t>(values.size());
  return {test, ranks, {{8, median_of(values), *least, *most, count, count}}};
}

}  // namespace

Figures figures_of(const Record& record) {
  Figures figures;
  for (std::size_t phase = 0; phase < phases; ++phase) {
    const std::vector<double> steps = steps_of(record, phase);
    figures.step[phase] = median_step(steps);
    const double longest = *std::max_element(steps.begin(), steps.end());
    figures.gap[phase] = std::max(figures.gap[phase], longest);
    const bool is_changed = phase == at(Phase::together) || phase == at(Phase::after);
    if (is_changed) figures.gap[phase - 1] = std::max(figures.gap[phase - 1], steps.front());
  }
  figures.joining = record.of(Phase::together).front() - record.end_of(Phase::before);
  figures.leaving = record.end_of(Phase::leaving) - record.end_of(Phase::together);
  return figures;
}

std::vector<measure::Series> series_of(const std::vector<Record>& records) {
  std::vector<Figures> all;
  for (const Record& record : records) all.push_back(figures_of(record));
  const auto of = [&](const char* test, int ranks, double (*figure)(const Figures&)) {
    return series(test, ranks, all, figure);
  };
  return {
      of("step-before", 2, [](const Figures& each) { return each.step[at(Phase::before)]; }),
      of("gap-before", 2, [](const Figures& each) { return each.gap[at(Phase::before)]; }),
      of("gap-joining", 2, [](const Figures& each) { return each.gap[at(Phase::joining)]; }),
      of("joining", 2, [](const Figures& each) { return each.joining; }),
      of("step-together", 3, [](const Figures& each) { return each.step[at(Phase::together)]; }),
      of("gap-leaving", 2, [](const Figures& each) { return each.gap[at(Phase::leaving)]; }),
      of("leaving", 2, [](const Figures& each) { return each.leaving; }),
      of("step-after", 2, [](const Figures& each) { return each.step[at(Phase::after)]; }),
  };
}

measure::Timeline timeline_of(const Record& record) {
  constexpr double bins = 400;
  const double origin = record.end_of(Phase::before);
  const double width = (record.end_of(Phase::after) - record.begin_ns) / bins;
  measure::Timeline timeline;
  double last = record.begin_ns;
  for (const std::vector<double>& ends : record.ends_ns) {
    double bin = -1;  // none is of two phases
    for (const double end : ends) {
      const double microseconds = (end - last) / ns_per_us;
      const double now = std::floor((end - record.begin_ns) / width);
      last = end;
      if (now != bin) {
        timeline.longest.push_back({(end - origin) / ns_per_ms, microseconds});
        bin = now;
      } else if (microseconds > timeline.longest.back().microseconds) {
        timeline.longest.back() = {(end - origin) / ns_per_ms, microseconds};
      }
    }
  }
  const auto ms = [&](double ns) { return (ns - origin) / ns_per_ms; };
  timeline.phases = {
      {"joins", 0, ms(record.of(Phase::together).front())},
      {"leaves", ms(record.end_of(Phase::together)), ms(record.end_of(Phase::leaving))}};
  return timeline;
}

const Record& middle_of(const std::vector<Record>& records) {
  std::vector<std::pair<double, const Record*>> all;
  for (const Record& record : records) {
    all.emplace_back(figures_of(record).gap[at(Phase::joining)], &record);
  }
  std::sort(all.begin(), all.end());
  return *all[all.size() / 2].second;
}

}  // namespace fulmar::joining
