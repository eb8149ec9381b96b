// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/bench/table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "fulmar/measure/collectives.h"
#include "fulmar/report/chart.h"

namespace fulmar::bench {

namespace {

using measure::Kind;
using measure::Point;

constexpr int size_width = 9;
constexpr int cell_width = 16;
constexpr std::size_t largest_for_rate = 4096;

/// The heading of a test's column and the unit below it.
struct Heading {
  const char* name;
  const char* unit;
};

Heading interface_heading(Kind test) {
  switch (test) {
    case Kind::rwapi_latency:
      return {"RWAPI", "us"};
    case Kind::rwapi_bandwidth:
      return {"RWAPI", "MB/s"};
    case Kind::rwapi_bibw:
      return {"RWAPI both", "MB/s"};
    case Kind::rwapi_burst:
      return {"RWAPI burst", "MB/s"};
    case Kind::sisci_latency:
      return {"SISCI", "us"};
    case Kind::sisci_bandwidth:
      return {"SISCI", "MB/s"};
    case Kind::sisci_bibw:
      return {"SISCI both", "MB/s"};
    case Kind::vipl_latency:
      return {"VIPL", "us"};
    case Kind::vipl_bandwidth:
      return {"VIPL", "MB/s"};
    case Kind::vipl_bibw:
      return {"VIPL both", "MB/s"};
    case Kind::vipl_alloc_latency:
      return {"VIPL alloc", "us"};
    case Kind::vipl_alloc_bandwidth:
      return {"VIPL alloc", "MB/s"};
    case Kind::vipl_alloc_bibw:
      return {"VIPL al. both", "MB/s"};
    default:
      return {"", ""};
  }
}

Heading heading(Kind test) {
  switch (test) {
    case Kind::latency:
      return {"latency", "us"};
    case Kind::bandwidth:
      return {"bandwidth", "MB/s"};
    case Kind::bibw:
      return {"both ways", "MB/s"};
    case Kind::rate:
      return {"rate", "million/s"};
    case Kind::exchange:
      return {"exchange", "MB/s"};
    case Kind::burst:
      return {"burst", "MB/s"};
    case Kind::typed:
      return {"typed", "us"};
    case Kind::pairs:
      return {"pairs", "us"};
    case Kind::ring:
      return {"ring", "us"};
    case Kind::random_ring:
      return {"random ring", "us"};
    case Kind::put:
      return {"put", "us"};
    case Kind::get:
      return {"get", "us"};
    case Kind::accumulate:
      return {"accumulate", "us"};
    case Kind::fetch_and_op:
      return {"fetch and op", "us"};
    case Kind::compare_and_swap:
      return {"swap", "us"};
    case Kind::put_own:
      return {"put (own)", "us"};
    case Kind::get_own:
      return {"get (own)", "us"};
    case Kind::accumulate_own:
      return {"acc. (own)", "us"};
    case Kind::fetch_and_op_own:
      return {"fetch (own)", "us"};
    case Kind::put_bw:
      return {"put", "MB/s"};
    case Kind::get_bw:
      return {"get", "MB/s"};
    case Kind::put_bibw:
      return {"put both", "MB/s"};
    case Kind::put_busy:
      return {"put, busy", "us"};
    case Kind::lock:
      return {"lock", "us"};
    default:
      return interface_heading(test);
  }
}

std::string figure(Kind test, const Point& point) {
  switch (test) {
    case Kind::bandwidth:
    case Kind::bibw:
    case Kind::exchange:
    case Kind::burst:
    case Kind::put_bw:
    case Kind::get_bw:
    case Kind::put_bibw:
    case Kind::rwapi_bandwidth:
    case Kind::rwapi_bibw:
    case Kind::rwapi_burst:
    case Kind::sisci_bandwidth:
    case Kind::sisci_bibw:
    case Kind::vipl_bandwidth:
    case Kind::vipl_bibw:
    case Kind::vipl_alloc_bandwidth:
    case Kind::vipl_alloc_bibw:
      return report::short_number(measure::megabytes_per_second(point));
    case Kind::rate:
      return report::short_number(measure::million_per_second(point));
    default:
      return report::short_number(point.median_ns / 1000);
  }
}

bool has(const measure::Plan& plan, Kind test) {
  return std::find(plan.tests.begin(), plan.tests.end(), test) != plan.tests.end();
}

}  // namespace

Table::Table(const measure::Plan& plan, std::vector<measure::Results> others, std::FILE* out)
    : others_(std::move(others)), out_(out) {
  for (const Kind test : plan.tests) {
    if (measure::point_to_point(test)) {
      columns_.push_back({test, test});
    }
  }
  if (has(plan, Kind::bandwidth) && !has(plan, Kind::rate)) {
    columns_.push_back({Kind::bandwidth, Kind::rate});
  }
  row_.resize(columns_.size());
}

std::string Table::ratio(Kind test, const Point& point, int ranks) const {
  double best = 0;
  for (const measure::Results& other : others_) {
    const auto* series = find_series(other, std::string(measure::name(test)), ranks);
    const auto* theirs = find_point(series, point.bytes);
    if (theirs != nullptr && (best == 0 || theirs->median_ns < best)) {
      best = theirs->median_ns;
    }
  }
  return best == 0 || point.median_ns <= 0 ? "" : fmt::format("{:.2f}x", best / point.median_ns);
}

std::string Table::cell(const Column& column, const Point& point, int ranks) const {
  if (column.shown_as == Kind::rate && point.bytes > largest_for_rate) {
    return "-";
  }
  const std::string value = figure(column.shown_as, point);
  const std::string times = ratio(column.test, point, ranks);
  return others_.empty() ? value : fmt::format("{} {:>7}", value, times);
}

void Table::print_head() {
  std::string names = fmt::format("{:>{}}", "size", size_width);
  std::string units = fmt::format("{:>{}}", "", size_width);
  for (const Column& column : columns_) {
    names += fmt::format("{:>{}}", heading(column.shown_as).name, cell_width);
    units += fmt::format("{:>{}}", heading(column.shown_as).unit, cell_width);
  }
  fmt::print(out_, "{}\n{}\n", names, units);
}

void Table::print_row() {
  std::string line = fmt::format("{:>{}}", measure::size_text(row_bytes_), size_width);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string text = row_[i] ? cell(columns_[i], *row_[i], pair_ranks_) : "-";
    line += fmt::format(" {:>{}}", text, cell_width - 1);
    row_[i].reset();
  }
  fmt::print(out_, "{}\n", line);
  std::fflush(out_);
}

void Table::print_collective(const measure::Progress& progress, int ranks) {
  if (!collectives_started_) {
    fmt::print(out_, "\ncollectives, {} ranks, us a call\n", ranks);
    collectives_started_ = true;
  }
  const std::string size =
      measure::is_barrier(progress.test) ? "" : measure::size_text(progress.point->bytes);
  fmt::print(out_, "{:>{}} {:>9} {:>{}}\n", measure::name(progress.test), size_width + 2, size,
             cell({progress.test, progress.test}, *progress.point, ranks), cell_width);
  std::fflush(out_);
}

void Table::show_progress(const measure::Progress& progress) {
  if (isatty(STDERR_FILENO) != 0) {
    fmt::print(stderr, "\r{:3} of {} \r", progress.done, progress.total);
  }
}

void Table::add(const measure::Progress& progress, int ranks) {
  show_progress(progress);
  if (!measure::point_to_point(progress.test)) {
    finish();
    print_collective(progress, ranks);
    return;
  }
  if (!started_) {
    print_head();
  } else if (progress.point->bytes != row_bytes_) {
    print_row();
  }
  started_ = true;
  row_bytes_ = progress.point->bytes;
  pair_ranks_ = measure::team_size(progress.test, ranks);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].test == progress.test) {
      row_[i] = *progress.point;
    }
  }
}

void Table::finish() {
  if (std::any_of(row_.begin(), row_.end(), [](const auto& point) { return point.has_value(); })) {
    print_row();
  }
}

}  // namespace fulmar::bench
