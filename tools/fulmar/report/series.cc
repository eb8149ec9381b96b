// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/report/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "fulmar/measure/collectives.h"
#include "fulmar/measure/tests.h"

namespace fulmar::report {

namespace {

constexpr std::size_t styles = 6;
constexpr std::size_t largest_small_message = 4096;

/// A line of the bare machine beside the libraries' curves.
struct Limit {
  const char* test;
  const char* label;
  std::size_t from_bytes;
};

/// What one picture shows.
struct Picture {
  const char* title;
  const char* unit;
  Scale scale;
  const char* test;
  Figure figure;
  std::size_t largest;
  std::span<const Limit> limits;
};

constexpr std::size_t large = 8192;
constexpr std::size_t all = static_cast<std::size_t>(-1);
constexpr Limit latency_limits[] = {{"raw-ring", "bare ring", 1},
                                    {"raw-cma-two", "kernel copy by both", large},
                                    {"raw-pipe", "bare pipelined copy", large}};
constexpr Limit rate_limits[] = {{"raw-ring-stream", "bare ring", 1}};
constexpr Limit bandwidth_limits[] = {{"raw-cma-one", "kernel copy by one", large},
                                      {"raw-cma-two", "kernel copy by both", large},
                                      {"raw-pipe-stream", "bare pipelined copy", large}};
constexpr Limit bibw_limits[] = {{"raw-cma-two", "kernel copy by both", large}};

constexpr Picture pictures[] = {
    {"Latency, one way", "µs", Scale::logarithmic, "latency", Figure::microseconds, all,
     latency_limits},
    {"Message rate, windows of 64", "million messages/s", Scale::logarithmic, "bandwidth",
     Figure::million, largest_small_message, rate_limits},
    {"Bandwidth, windows of 64", "GB/s", Scale::linear, "bandwidth", Figure::gigabytes, all,
     bandwidth_limits},
    {"Bandwidth both ways, windows of 64 each", "GB/s", Scale::linear, "bibw", Figure::gigabytes,
     all, bibw_limits},
};

std::vector<std::pair<double, double>> points_of(const measure::Series* series, Figure figure,
                                                 std::size_t least, std::size_t largest) {
  std::vector<std::pair<double, double>> points;
  if (series != nullptr) {
    for (const measure::Point& point : series->points) {
      if (point.bytes >= least && point.bytes <= largest && point.median_ns > 0) {
        points.emplace_back(static_cast<double>(point.bytes), figure_of(figure, point));
      }
    }
  }
  return points;
}

Chart chart_of(const Picture& picture, const Subjects& subjects) {
  Chart chart{picture.title, picture.unit, picture.scale, {}};
  for (std::size_t i = 0; i < picture.limits.size() && subjects.raw != nullptr; ++i) {
    const Limit& limit = picture.limits[i];
    auto points = points_of(find_series(*subjects.raw, limit.test), picture.figure,
                            limit.from_bytes, picture.largest);
    if (!points.empty()) {
      chart.curves.push_back(
          {limit.label, "raw" + std::to_string(i), Line::dashed, std::move(points)});
    }
  }
  for (std::size_t i = subjects.libraries.size(); i-- > 0;) {  // the subject last: on top
    const measure::Results& results = *subjects.libraries[i];
    auto points = points_of(find_series(results, picture.test), picture.figure, 1, picture.largest);
    if (!points.empty()) {
      chart.curves.push_back({results.label, style_of(i), Line::solid, std::move(points)});
    }
  }
  return chart;
}

DotRow row_of(const Subjects& subjects, const std::string& test, int ranks, std::size_t bytes) {
  DotRow row{fmt::format("{}, {} ranks", test, ranks), {}};
  if (subjects.raw != nullptr) {
    if (const auto* point = find_point(find_series(*subjects.raw, "raw-barrier", ranks), 0)) {
      row.dots.push_back(
          {"bare barrier of yielding processes", "raw0", figure_of(Figure::microseconds, *point)});
    }
  }
  const std::size_t limits = row.dots.size();
  for (std::size_t i = subjects.libraries.size(); i-- > 0;) {
    const measure::Results& results = *subjects.libraries[i];
    if (const auto* point = find_point(find_series(results, test, ranks), bytes)) {
      row.dots.push_back({results.label, style_of(i), figure_of(Figure::microseconds, *point)});
    }
  }
  if (row.dots.size() == limits) {
    row.dots.clear();
  }
  return row;
}

}  // namespace

Subjects subjects_of(const std::vector<measure::Results>& files) {
  Subjects subjects;
  for (const measure::Results& file : files) {
    const bool raw = std::any_of(file.series.begin(), file.series.end(), [](const auto& series) {
      return series.test.starts_with("raw-");
    });
    if (raw) {
      subjects.raw = &file;
    } else {
      subjects.libraries.push_back(&file);
    }
  }
  return subjects;
}

double figure_of(Figure figure, const measure::Point& point) {
  constexpr double thousand = 1000;
  switch (figure) {
    case Figure::microseconds:
      return point.median_ns / thousand;
    case Figure::gigabytes:
      return measure::megabytes_per_second(point) / thousand;
    case Figure::megabytes:
      return measure::megabytes_per_second(point);
    case Figure::million:
      return measure::million_per_second(point);
  }
  return 0;
}

bool is_collective(const std::string& test) {
  const auto kind = measure::test_from(test);
  return kind && !measure::point_to_point(*kind);
}

std::vector<Chart> charts_of(const Subjects& subjects) {
  std::vector<Chart> charts;
  for (const Picture& picture : pictures) {
    Chart chart = chart_of(picture, subjects);
    const bool measured = std::any_of(chart.curves.begin(), chart.curves.end(),
                                      [](const Curve& curve) { return curve.line == Line::solid; });
    if (measured) {
      charts.push_back(std::move(chart));
    }
  }
  return charts;
}

std::vector<DotRow> collective_rows(const Subjects& subjects) {
  std::set<int> ranks;
  for (const measure::Results* results : subjects.libraries) {
    for (const measure::Series& series : results->series) {
      if (is_collective(series.test)) {
        ranks.insert(series.ranks);
      }
    }
  }
  std::vector<DotRow> rows;
  for (const std::string& test : measure::test_names()) {
    if (!is_collective(test)) {
      continue;
    }
    for (const int count : ranks) {
      DotRow row = row_of(subjects, test, count,
                          measure::is_barrier(*measure::test_from(test)) ? 0 : sizeof(double));
      if (!row.dots.empty()) {
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

std::vector<DotRow> start_rows(const Subjects& subjects) {
  DotRow row;
  for (std::size_t i = subjects.libraries.size(); i-- > 0;) {
    const measure::Results& results = *subjects.libraries[i];
    if (results.init_ms > 0) {
      row.label = fmt::format("MPI_Init, {} ranks", results.init_ranks);
      row.dots.push_back({results.label, style_of(i), results.init_ms});
    }
  }
  return row.dots.empty() ? std::vector<DotRow>{} : std::vector<DotRow>{row};
}

std::string style_of(std::size_t index) {
  return "s" + std::to_string(std::min(index, styles - 1));
}

}  // namespace fulmar::report
