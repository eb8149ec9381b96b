// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "fulmar/layers/reading.h"
#include "fulmar/layers/summary.h"
#include "fulmar/report/chart.h"
#include "fulmar/report/series.h"
#include "fulmar/report/style_sheet.h"
#include "fulmar/report/timeline.h"
#include "fulmar/trace/show.h"

namespace fulmar::layers {

namespace {

using report::Chart;
using report::escape;
using report::Line;

/// What the bare machine can do, by the tests of fulmar-raw.
struct Limit {
  const char* measured;
  Figure::Form form;
  const char* raw_test;
  const char* label;
};
constexpr Limit limits[] = {
    {"raw", Figure::Form::microseconds, "raw-ring", "bare ring, no MPI"},
    {"raw", Figure::Form::megabytes, "raw-ring-stream", "bare ring, no MPI"},
    {"raw", Figure::Form::megabytes, "raw-pipe-stream", "bare copy through memory, no MPI"},
    {"raw-verbs", Figure::Form::microseconds, "raw-verbs", "bare RDMA write, no MPI"},
    {"raw-verbs", Figure::Form::megabytes, "raw-verbs-write", "bare RDMA writes, no MPI"},
};

constexpr std::array counters = {
    std::pair{"channel_design_writes", "writes"},
    std::pair{"channel_design_credit_writes", "of them credits"},
    std::pair{"channel_design_copies", "copies"},
    std::pair{"channel_design_copied_bytes", "bytes copied"},
    std::pair{"channel_design_handshakes", "handshakes"},
    std::pair{"channel_design_moved_bytes", "bytes moved without copy"},
    std::pair{"device_rendezvous_sends", "announcements"},
    std::pair{"device_fetched_messages", "read by adapters"},
    std::pair{"device_put_messages", "written by adapters"},
    std::pair{"device_remote_bytes", "bytes moved by adapters"},
    std::pair{"device_memory_opened", "times memory was opened"},
    std::pair{"device_sleeps", "sleeps of the program"},
    std::pair{"device_thread_wakeups", "wakeups of the thread"},
    std::pair{"device_second_thread_wakeups", "wakeups of the second thread"},
};

double value_of(const Figure& figure, const Curve& curve, const measure::Point& point) {
  const bool megabytes = figure.form == Figure::Form::megabytes;
  return megabytes ? report::figure_of(report::Figure::megabytes, point)
                   : curve.operations * report::figure_of(report::Figure::microseconds, point);
}

const char* unit_of(Figure::Form form) {
  switch (form) {
    case Figure::Form::megabytes:
      return "MB/s";
    case Figure::Form::microseconds:
      return "µs one way";
    case Figure::Form::programs:
      return "% of the first's time";
    default:
      return "µs a call";
  }
}

/// A figure in each round.
Value spread_of(const Figure& figure, const Curve& from, const Sample& sample, std::size_t bytes) {
  std::vector<double> values;
  for (const measure::Results& round : sample.rounds) {
    const auto* point = measure::find_point(measure::find_series(round, from.test), bytes);
    if (point != nullptr && point->median_ns > 0) values.push_back(value_of(figure, from, *point));
  }
  return values.empty() ? Value{} : Value::of(std::move(values));
}

void add_curve(Chart& chart, const Figure& figure, const Sample& sample, const Curve& from,
               report::Curve curve) {
  const measure::Series* series = measure::find_series(sample, from.test);
  if (series == nullptr) {
    return;
  }
  for (const measure::Point& point : series->points) {
    if (point.bytes > 0 && point.bytes <= figure.largest && point.median_ns > 0) {
      const auto bytes = static_cast<double>(point.bytes);
      curve.points.emplace_back(bytes, value_of(figure, from, point));
      const Value spread = spread_of(figure, from, sample, point.bytes);
      if (spread.rounds > 1) curve.band.push_back({bytes, spread.least, spread.most});
    }
  }
  if (!curve.points.empty()) {
    chart.curves.push_back(std::move(curve));
  }
}

const Setting* setting_of(const std::string& name) {
  static const std::vector<Setting> all = settings();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Setting& at) { return at.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string label_of(const Curve& curve) {
  const Setting* setting = setting_of(curve.setting);
  return !curve.label.empty() ? curve.label : setting != nullptr ? setting->label : curve.setting;
}

/// What stands beside the settings of a figure: nothing beside bare figures themselves.
const char* limits_of(const Figure& figure) {
  const Setting* setting = setting_of(figure.curves.front().setting);
  return setting == nullptr ? "" : setting->network == Network::shm ? "raw" : "raw-verbs";
}

Chart chart_of(const Figure& figure, const Measured& measured) {
  // What papers measured twenty years ago is far away.
  const auto scale = figure.marks.empty() ? report::Scale::linear : report::Scale::logarithmic;
  Chart chart{figure.title, unit_of(figure.form), scale, {}, {}};
  for (const Mark& mark : figure.marks) {
    chart.marks.push_back(
        {mark.label + ", in the paper", static_cast<double>(mark.bytes), mark.value});
  }
  const char* limited_by = limits_of(figure);
  const auto raw = measured.find(limited_by);
  std::size_t drawn = 0;
  for (const Limit& limit : limits) {
    if (raw != measured.end() && figure.form == limit.form &&
        limit.measured == std::string_view(limited_by)) {
      add_curve(chart, figure, raw->second, {limited_by, limit.raw_test},
                {limit.label, "raw" + std::to_string(drawn++), Line::dashed, {}, {}});
    }
  }
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    const Curve& curve = figure.curves[i];
    const auto found = measured.find(curve.setting);
    if (found != measured.end()) {
      add_curve(chart, figure, found->second, curve,
                {label_of(curve), report::style_of(i), Line::solid, {}, {}});
    }
  }
  return chart;
}

const measure::Point* point_of(const measure::Results& results, const Curve& curve,
                               std::size_t bytes) {
  const bool has_size = curve.test != "barrier" && !curve.test.starts_with("nas-");
  return measure::find_point(series_of_team(results, curve.test, curve.team), has_size ? bytes : 0);
}

/// The point with that figure in the middle.
measure::Point asked_for(measure::Point point, Curve::Of of) {
  point.median_ns = of == Curve::Of::low    ? point.low_ns
                    : of == Curve::Of::high ? point.high_ns
                                            : point.median_ns;
  return point;
}

/// Of the first dot of each row: programs that take from tenths of a second to minutes on one axis.
std::vector<report::DotRow> in_per_cent(std::vector<report::DotRow> rows) {
  constexpr double hundred = 100;
  for (report::DotRow& row : rows) {
    const double first = row.dots.front().value;
    for (auto& dot : row.dots) {
      dot.value *= hundred / first;
    }
  }
  return rows;
}

/// A row for each test, with a dot for each setting.
std::vector<report::DotRow> rows_of(const Figure& figure, const Measured& measured) {
  std::vector<report::DotRow> rows;
  std::vector<std::string> styles;  // by setting
  for (const Curve& curve : figure.curves) {
    const auto found = measured.find(curve.setting);
    const measure::Point* point =
        found == measured.end() ? nullptr : point_of(found->second, curve, figure.largest);
    auto style = std::find(styles.begin(), styles.end(), curve.setting);
    if (style == styles.end()) {
      style = styles.insert(styles.end(), curve.setting);
    }
    if (point == nullptr) {
      continue;
    }
    const std::string& row = curve.row.empty() ? curve.test : curve.row;
    if (rows.empty() || rows.back().label != row) {
      rows.push_back({row, {}});
    }
    rows.back().dots.push_back({label_of(curve),
                                report::style_of(static_cast<std::size_t>(style - styles.begin())),
                                value_of(figure, curve, asked_for(*point, curve.of))});
  }
  return figure.form == Figure::Form::programs ? in_per_cent(std::move(rows)) : rows;
}

std::string legend(const Chart& chart) {
  std::string out = "<div class='legend'>";
  if (!chart.marks.empty()) out += "<span><i class='mark'></i>what the paper's text says</span>";
  for (const report::Curve& curve : chart.curves) {
    out += fmt::format("<span><i class='{} {}'></i>{}</span>", curve.style,
                       curve.line == Line::dashed ? "limit" : "", escape(curve.label));
  }
  return out + "</div>\n";
}

std::string legend(const std::vector<report::DotRow>& rows) {
  std::string out = "<div class='legend'>";
  for (const auto& dot : rows.front().dots) {
    out += fmt::format("<span><i class='{} dot'></i>{}</span>", dot.style, escape(dot.label));
  }
  return out + "</div>\n";
}

/// The rows with their values.
std::string table_of(const std::vector<report::DotRow>& rows) {
  std::string out = "<div class='scroll'><table><tr><th></th>";
  for (const auto& dot : rows.front().dots) out += fmt::format("<th>{}</th>", escape(dot.label));
  out += "</tr>\n";
  for (const report::DotRow& row : rows) {
    out += fmt::format("<tr><td>{}</td>", escape(row.label));
    for (const auto& dot : row.dots)
      out += fmt::format("<td>{}</td>", report::short_number(dot.value));
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

/// The timelines of the figure's settings, one below the other.
std::string timelines(const Figure& figure, const Measured& measured) {
  std::string out;
  std::vector<std::string> drawn;
  for (const Curve& curve : figure.curves) {
    const auto found = measured.find(curve.setting);
    if (found == measured.end() ||
        std::find(drawn.begin(), drawn.end(), curve.setting) != drawn.end()) {
      continue;
    }
    drawn.push_back(curve.setting);
    for (const measure::Timeline& timeline : found->second.timelines) {
      out += fmt::format("<p class='note'>{}</p>\n{}", escape(label_of(curve)),
                         report::svg(timeline, figure.title + ", " + label_of(curve),
                                     report::style_of(drawn.size() - 1)));
    }
  }
  return out;
}

bool has_rows(Figure::Form form) {
  return form == Figure::Form::rows || form == Figure::Form::timeline ||
         form == Figure::Form::programs;
}

/// Empty where nothing of it was measured.
std::string drawing(const Figure& figure, const Measured& measured) {
  if (has_rows(figure.form)) {
    const std::vector<report::DotRow> rows = rows_of(figure, measured);
    const auto scale =
        figure.form == Figure::Form::programs ? report::Scale::linear : report::Scale::logarithmic;
    return rows.empty() ? ""
                        : timelines(figure, measured) + legend(rows) +
                              svg(rows, unit_of(figure.form), scale) + table_of(rows);
  }
  const Chart chart = chart_of(figure, measured);
  const bool has_figures = std::any_of(chart.curves.begin(), chart.curves.end(),
                                       [](const auto& at) { return at.line == Line::solid; });
  return has_figures ? legend(chart) + svg(chart) : "";
}

std::string sentence(const std::string& found, const Verdict& verdict) {
  return fmt::format("<p class='note'>{} <b>This {}.</b> {}</p>\n", escape(found),
                     word_of(verdict.outcome), escape(verdict.here));
}

std::string card(const Figure& figure, const Measured& measured, const std::string& lacking) {
  const std::string picture = drawing(figure, measured);
  const std::string reason = figure.form == Figure::Form::programs ? lacking : "";
  if (picture.empty() && reason.empty()) {
    return "";
  }
  Verdict verdict = figure.judge(measured);
  verdict.here += (reason.empty() ? "" : " ") + reason;
  return fmt::format(
      "<section class='card' id='{}'><h2>{}</h2>\n<p class='note'>{}</p>\n{}{}</section>\n",
      anchor_of(figure.title), escape(figure.title), escape(figure.paper), picture,
      sentence(figure.found, verdict));
}

/// Whether a counter can count anything with a setting.
bool applies(std::string_view counter, const Setting& setting) {
  const auto sets = [&](std::string_view name, std::string_view value) {
    return std::any_of(setting.environment.begin(), setting.environment.end(), [&](const auto& at) {
      return at.first == name && (value.empty() || at.second == value);
    });
  };
  if (counter.starts_with("channel_design_")) {
    return sets("FULMAR_CHANNEL", "") || sets("FULMAR_STACK", "channel") ||
           sets("FULMAR_STACK", "ch3");
  }
  if (counter == "device_second_thread_wakeups") return sets("FULMAR_PROGRESS_THREAD", "two");
  if (counter == "device_thread_wakeups") return sets("FULMAR_PROGRESS_THREAD", "");
  const bool by_adapter = counter == "device_fetched_messages" ||
                          counter == "device_put_messages" || counter == "device_remote_bytes" ||
                          counter == "device_memory_opened";
  return !by_adapter || setting.network == Network::verbs;
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
    if (found == measured.end() || found->second.counts.empty()) {
      continue;
    }
    out += fmt::format("<tr><td>{}</td>", escape(setting.label));
    for (const auto& [name, title] : counters) {
      const measure::Count* count = measure::find_count(found->second, name, size.bytes);
      out += fmt::format("<td>{}</td>", count == nullptr || !applies(name, setting)
                                            ? "–"
                                            : report::short_number(count->per_message));
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
  const Verdict over_verbs = judge_adapter_counts(measured);
  if (over_verbs.outcome != Outcome::unknown) {
    out += sentence("Over an adapter it is the same.", over_verbs);
  }
  for (const CountedSize& size : counted_sizes()) {
    out += table(size, measured);
  }
  return out + "</section>\n";
}

std::string calls(const Trees& trees) {
  if (trees.empty()) {
    return "";
  }
  std::string out = "<section class='card tables'><h2>Calls and their stages</h2>\n";
  out += fmt::format("<p class='note'>{}, section 2.3.6; figures 7 to 9 by their calls</p>\n",
                     "MPICH2-CH3 device of Chemnitz");
  out += sentence(
      "A long message needed two exchanges, the rendezvous and one about addresses for RDMA; one "
      "for both would do.",
      judge_handshakes(trees));
  out +=
      "<p class='note'>Both ranks together. What is recorded "
      "takes time itself, and short messages go a longer way for it: read counts here, and times "
      "for what they are among each other.</p>\n";
  for (const Traced& run : traced_runs()) {
    const auto found = trees.find(run.name);
    if (found != trees.end()) {
      out += fmt::format("<h2>{}</h2>\n{}", escape(run.title), trace::tree_html(found->second));
    }
  }
  return out + "</section>\n";
}

constexpr const char* method =
    "Two processes of one machine, over shared memory unless a figure says otherwise: where the "
    "papers' adapters write into the memory of another host, a processor stores into memory that "
    "both map, so a write costs no microsecond and a copy competes with the program for the same "
    "memory. Rings take all ranks, on this one machine: a random order has longer ways only where "
    "cores do not share caches. Nothing is registered in shared memory, so a registration cache "
    "shows over an adapter (verbs) alone; those figures are there where this host has one. Every "
    "figure is the median over batches, and of that over rounds; a band shows how far the rounds "
    "lie apart (of five and "
    "more without the lowest and the highest). A verdict needs three rounds, and a difference "
    "beyond 3 % whose bands do not "
    "meet; all that is between is undecided. Programs of NAS say themselves what they took, and "
    "whether their result "
    "is right; without that they do not count. The papers: Design and "
    "Implementation of "
    "MPICH2 over InfiniBand with RDMA Support (Liu et al. 2004); the slides on the layers of "
    "MVAPICH2 (2005); RWAPI over InfiniBand (Ben Fredj, Renault); the report of Chemnitz on an "
    "MPICH2-CH3 device for InfiniBand; Design and Implementation of Open MPI over QsNet/Elan4 (Yu "
    "et al. 2004).";

}  // namespace

std::string page(const Measured& measured, const Trees& trees, const Circumstances& circumstances) {
  std::string out = "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>\n";
  out +=
      "<meta name='viewport' content='width=device-width, initial-scale=1'>\n<title>Fulmar: "
      "layers</title>\n";
  out += fmt::format("<style>{}</style></head>\n<body><main>\n", report::style_sheet);
  out += heading_html(measured, circumstances) + conclusions_html(measured, trees);
  out += "<div class='grid2'>\n";
  for (const Figure& figure : figures()) {
    out += card(figure, measured, circumstances.no_applications);
  }
  out += "</div>\n" + counts(measured) + calls(trees) + experiments_html(measured);
  return out + fmt::format("<p class='note'>{}</p>\n</main></body></html>\n", method);
}

}  // namespace fulmar::layers
