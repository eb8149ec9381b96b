// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/page.h"

#include <fmt/format.h>

#include <array>

#include "fulmar/report/chart.h"
#include "fulmar/report/series.h"
#include "fulmar/report/style_sheet.h"

namespace fulmar::layers {

namespace {

using report::Chart;
using report::escape;
using report::Line;

/// What the bare machine can do, by the tests of fulmar-raw.
struct Limit {
  const char* test;
  const char* raw_test;
  const char* label;
};
constexpr Limit limits[] = {
    {"latency", "raw-ring", "bare ring, no MPI"},
    {"bandwidth", "raw-ring-stream", "bare ring, no MPI"},
    {"bandwidth", "raw-pipe-stream", "bare copy through memory, no MPI"},
};

constexpr std::array counters = {
    std::pair{"channel_design_writes", "writes"},
    std::pair{"channel_design_credit_writes", "of them credits"},
    std::pair{"channel_design_copies", "copies"},
    std::pair{"channel_design_copied_bytes", "bytes copied"},
    std::pair{"channel_design_handshakes", "handshakes"},
    std::pair{"channel_design_moved_bytes", "bytes moved without copy"},
    std::pair{"device_rendezvous_sends", "announcements"},
};

report::Figure value_of(const Figure& figure) {
  return figure.test == "latency" ? report::Figure::microseconds : report::Figure::megabytes;
}

void add_curve(Chart& chart, const Figure& figure, const measure::Results& results,
               const std::string& test, report::Curve curve) {
  const measure::Series* series = measure::find_series(results, test);
  if (series == nullptr) {
    return;
  }
  for (const measure::Point& point : series->points) {
    if (point.bytes > 0 && point.bytes <= figure.largest && point.median_ns > 0) {
      curve.points.emplace_back(static_cast<double>(point.bytes),
                                report::figure_of(value_of(figure), point));
    }
  }
  if (!curve.points.empty()) {
    chart.curves.push_back(std::move(curve));
  }
}

std::string label_of(const std::string& name) {
  for (const Setting& setting : settings()) {
    if (setting.name == name) {
      return setting.label;
    }
  }
  return name;
}

Chart chart_of(const Figure& figure, const Measured& measured) {
  const bool latency = figure.test == "latency";
  Chart chart{figure.title, latency ? "µs one way" : "MB/s", report::Scale::linear, {}};
  const auto raw = measured.find("raw");
  std::size_t drawn = 0;
  for (const Limit& limit : limits) {
    if (raw != measured.end() && figure.test == limit.test) {
      add_curve(chart, figure, raw->second, limit.raw_test,
                {limit.label, "raw" + std::to_string(drawn++), Line::dashed, {}});
    }
  }
  for (std::size_t i = 0; i < figure.names.size(); ++i) {
    const auto found = measured.find(figure.names[i]);
    if (found != measured.end()) {
      add_curve(chart, figure, found->second, figure.test,
                {label_of(figure.names[i]), report::style_of(i), Line::solid, {}});
    }
  }
  return chart;
}

const char* word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::holds:
      return "holds here";
    case Outcome::differs:
      return "is different here";
    default:
      return "not measured";
  }
}

std::string legend(const Chart& chart) {
  std::string out = "<div class='legend'>";
  for (const report::Curve& curve : chart.curves) {
    out += fmt::format("<span><i class='{} {}'></i>{}</span>", curve.style,
                       curve.line == Line::dashed ? "limit" : "", escape(curve.label));
  }
  return out + "</div>\n";
}

std::string sentence(const std::string& found, const Verdict& verdict) {
  return fmt::format("<p class='note'>{} <b>This {}.</b> {}</p>\n", escape(found),
                     word_of(verdict.outcome), escape(verdict.here));
}

std::string card(const Figure& figure, const Measured& measured) {
  const Chart chart = chart_of(figure, measured);
  if (chart.curves.empty()) {
    return "";
  }
  return fmt::format(
      "<section class='card'><h2>{}</h2>\n<p class='note'>{}</p>\n{}{}{}</section>\n",
      escape(figure.title), escape(figure.paper), legend(chart), svg(chart),
      sentence(figure.found, figure.judge(measured)));
}

std::string table(const CountedSize& size, const Measured& measured) {
  std::string out =
      fmt::format("<h2>{}</h2>\n<div class='scroll'><table><tr><th></th>", escape(size.title));
  for (const auto& [name, title] : counters) {
    out += fmt::format("<th>{}</th>", title);
  }
  out += "</tr>\n";
  for (const Setting& setting : settings()) {
    const auto found = measured.find(setting.name);
    if (setting.only_bandwidth || found == measured.end()) {
      continue;
    }
    out += fmt::format("<tr><td>{}</td>", escape(setting.label));
    for (const auto& [name, title] : counters) {
      const measure::Count* count = measure::find_count(found->second, name, size.bytes);
      out += fmt::format("<td>{}</td>",
                         count == nullptr ? "" : report::short_number(count->per_message));
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string counts(const Measured& measured) {
  std::string out = "<section class='card tables'><h2>What is done for each message</h2>\n";
  out += sentence(
      "Three writes for a short message in the basic design, one with piggybacking; two copies of "
      "each byte in the pipeline, none and one handshake without copies. Counted, so that no "
      "machine hides it.",
      judge_counts(measured));
  for (const CountedSize& size : counted_sizes()) {
    out += table(size, measured);
  }
  return out + "</section>\n";
}

std::string heading(const Measured& measured) {
  std::string out = "<h1>The layers of an MPI library</h1>\n<p class='about'>";
  if (!measured.empty()) {
    const measure::Results& machine = measured.begin()->second;
    out += fmt::format("{} · {} {} · {} · {}", escape(machine.processor), machine.cores,
                       machine.cores == 1 ? "core" : "cores", escape(machine.kernel),
                       escape(machine.time));
  }
  return out + "</p>\n";
}

constexpr const char* method =
    "Two processes of one machine over shared memory: where the papers' adapters write into the "
    "memory of another host, a processor stores into memory that both map, so a write costs no "
    "microsecond and a copy competes with the program for the same memory. Every figure is the "
    "median over batches. The papers: Design and Implementation of MPICH2 over InfiniBand with "
    "RDMA "
    "Support (Liu et al. 2004), the slides on the layers of MVAPICH2 (2005), and RWAPI over "
    "InfiniBand (Ben Fredj, Renault).";

}  // namespace

std::string page(const Measured& measured) {
  std::string out = "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>\n";
  out +=
      "<meta name='viewport' content='width=device-width, initial-scale=1'>\n<title>Fulmar: "
      "layers</title>\n";
  out += fmt::format("<style>{}</style></head>\n<body><main>\n", report::style_sheet);
  out += heading(measured) + "<div class='grid2'>\n";
  for (const Figure& figure : figures()) {
    out += card(figure, measured);
  }
  out += "</div>\n" + counts(measured);
  return out + fmt::format("<p class='note'>{}</p>\n</main></body></html>\n", method);
}

std::string summary(const Measured& measured) {
  std::string out;
  const auto add = [&](const std::string& title, const Verdict& verdict) {
    out += fmt::format("{:<52} {:<18} {}\n", title, word_of(verdict.outcome), verdict.here);
  };
  for (const Figure& figure : figures()) {
    add(figure.title, figure.judge(measured));
  }
  add("Counted", judge_counts(measured));
  return out;
}

}  // namespace fulmar::layers
