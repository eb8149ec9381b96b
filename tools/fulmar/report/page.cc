// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "fulmar/report/chart.h"
#include "fulmar/report/series.h"
#include "fulmar/report/style_sheet.h"
#include "fulmar/report/tables.h"

namespace fulmar::report {

namespace {

constexpr const char* method =
    "Every figure is the median over batches of operations, after a warm-up; reading the clock is "
    "subtracted. Latency is "
    "half a round trip of blocking calls. Bandwidth and message rate are windows of 64 "
    "non-blocking messages, each window "
    "answered by an empty message. Dashed lines are what the bare machine does without MPI. GB and "
    "MB are powers of ten, "
    "KiB and MiB powers of two.";

std::string about(const measure::Results& results) {
  std::string out = fmt::format("<b>{}</b>", escape(results.label));
  if (!results.library.empty()) {
    out += fmt::format(" · {}", escape(results.library));
  }
  if (!results.commit.empty()) {
    out += fmt::format(" · commit {}", escape(results.commit));
  }
  return out;
}

std::string heading(const std::vector<measure::Results>& files, const Subjects& subjects) {
  const measure::Results& machine = files.front();
  const std::string name =
      subjects.libraries.empty() ? machine.label : subjects.libraries.front()->label;
  std::string out =
      fmt::format("<h1>{}: messages between processes</h1>\n<p class='about'>", escape(name));
  out += fmt::format("{} · {} {} · {} · {}<br>\n", escape(machine.processor), machine.cores,
                     machine.cores == 1 ? "core" : "cores", escape(machine.kernel),
                     escape(machine.time));
  for (const measure::Results* results : subjects.libraries) {
    out += about(*results) + "<br>\n";
  }
  return out + "</p>\n";
}

std::string legend(const Chart& chart) {
  std::string out = "<div class='legend'>";
  for (const Line line : {Line::solid, Line::dashed}) {
    for (auto curve = chart.curves.rbegin(); curve != chart.curves.rend(); ++curve) {
      if (curve->line == line) {
        out += fmt::format("<span><i class='{} {}'></i>{}</span>", curve->style,
                           line == Line::dashed ? "limit" : "", escape(curve->label));
      }
    }
  }
  return out + "</div>\n";
}

std::string legend(const std::vector<DotRow>& rows) {
  std::string out = "<div class='legend'>";
  const auto longest = std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.dots.size() < b.dots.size();
  });
  for (auto dot = longest->dots.rbegin(); dot != longest->dots.rend(); ++dot) {
    out += fmt::format("<span><i class='dot {}'></i>{}</span>", dot->style, escape(dot->label));
  }
  return out + "</div>\n";
}

std::string card(const std::string& title, const std::string& key, const std::string& picture) {
  return fmt::format("<section class='card'><h2>{}</h2>\n{}{}</section>\n", escape(title), key,
                     picture);
}

std::string dot_card(const std::string& title, const std::vector<DotRow>& rows,
                     const std::string& unit) {
  return rows.empty() ? "" : card(title, legend(rows), svg(rows, unit));
}

}  // namespace

std::string page(const std::vector<measure::Results>& files) {
  if (files.empty()) {
    return "";
  }
  const Subjects subjects = subjects_of(files);
  std::string out = "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>\n";
  out +=
      "<meta name='viewport' content='width=device-width, initial-scale=1'>\n<title>Fulmar: "
      "measured</title>\n";
  out += fmt::format("<style>{}</style></head>\n<body><main>\n", style_sheet);
  out += heading(files, subjects) + tiles(subjects) + "<div class='grid2'>\n";
  for (const Chart& chart : charts_of(subjects)) {
    out += card(chart.title, legend(chart), svg(chart));
  }
  out +=
      dot_card("Barrier and 8 bytes of other collectives", collective_rows(subjects), "µs a call");
  out += dot_card("Start", start_rows(subjects), "ms, slowest rank");
  out += "</div>\n" + tables(subjects);
  return out + fmt::format("<p class='note'>{}</p>\n</main></body></html>\n", method);
}

}  // namespace fulmar::report
