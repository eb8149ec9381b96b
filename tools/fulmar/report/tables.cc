// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fulmar::report {

namespace {

struct Column {
  const char* title;
  const char* test;
  Figure figure;
  std::size_t largest;
};

constexpr std::size_t everything = static_cast<std::size_t>(-1);
constexpr Column columns[] = {
    {"latency, µs", "latency", Figure::microseconds, everything},
    {"rate, million/s", "bandwidth", Figure::million, 4096},
    {"bandwidth, MB/s", "bandwidth", Figure::megabytes, everything},
    {"both ways, MB/s", "bibw", Figure::megabytes, everything},
};

std::set<std::size_t> sizes_of(const Subjects& subjects, const std::string& test) {
  std::set<std::size_t> sizes;
  for (const measure::Results* results : subjects.libraries) {
    if (const measure::Series* series = find_series(*results, test)) {
      for (const measure::Point& point : series->points) {
        sizes.insert(point.bytes);
      }
    }
  }
  return sizes;
}

std::string cell(const measure::Point* point, Figure figure) {
  return point == nullptr ? "<td>–</td>"
                          : fmt::format("<td>{}</td>", short_number(figure_of(figure, *point)));
}

std::string open_table(const std::string& title, const std::vector<std::string>& heads) {
  std::string out = fmt::format("<section class='card'><h2>{}</h2><div class='scroll'><table><tr>",
                                escape(title));
  for (const std::string& head : heads) {
    out += fmt::format("<th>{}</th>", escape(head));
  }
  return out + "</tr>\n";
}

constexpr const char* close_table = "</table></div></section>\n";

std::string single_table(const Subjects& subjects) {
  std::vector<std::string> heads{"size"};
  std::set<std::size_t> sizes;
  for (const Column& column : columns) {
    heads.emplace_back(column.title);
    sizes.merge(sizes_of(subjects, column.test));
  }
  std::string out = open_table("All sizes", heads);
  for (const std::size_t bytes : sizes) {
    out += fmt::format("<tr><td>{}</td>", measure::size_text(bytes));
    for (const Column& column : columns) {
      const auto* point = find_point(find_series(*subjects.libraries[0], column.test), bytes);
      out += cell(bytes <= column.largest ? point : nullptr, column.figure);
    }
    out += "</tr>\n";
  }
  return out + close_table;
}

/// How many times faster the first library is than the fastest other, as a table cell.
std::string ratio_cell(const std::vector<const measure::Point*>& points) {
  double best = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i] != nullptr && (best == 0 || points[i]->median_ns < best)) {
      best = points[i]->median_ns;
    }
  }
  if (best == 0 || points.empty() || points[0] == nullptr || points[0]->median_ns <= 0) {
    return "<td>–</td>";
  }
  const double ratio = best / points[0]->median_ns;
  return fmt::format("<td class='{}'>{:.2f}×</td>", ratio >= 1 ? "ahead" : "behind", ratio);
}

std::vector<std::string> library_heads(const Subjects& subjects, const char* first) {
  std::vector<std::string> heads{first};
  for (const measure::Results* results : subjects.libraries) {
    heads.push_back(results->label);
  }
  if (subjects.libraries.size() > 1) {
    heads.emplace_back("ahead of best");
  }
  return heads;
}

std::string comparison_row(const std::string& name, const Subjects& subjects,
                           const std::string& test, int ranks, std::size_t bytes, Figure figure) {
  std::string out = fmt::format("<tr><td>{}</td>", escape(name));
  std::vector<const measure::Point*> points;
  for (const measure::Results* results : subjects.libraries) {
    const auto* series =
        ranks == 0 ? find_series(*results, test) : find_series(*results, test, ranks);
    points.push_back(find_point(series, bytes));
    out += cell(points.back(), figure);
  }
  return out + (points.size() > 1 ? ratio_cell(points) : "") + "</tr>\n";
}

std::string comparison_table(const Subjects& subjects, const Column& column) {
  std::string out = open_table(column.title, library_heads(subjects, "size"));
  for (const std::size_t bytes : sizes_of(subjects, column.test)) {
    if (bytes <= column.largest) {
      out +=
          comparison_row(measure::size_text(bytes), subjects, column.test, 0, bytes, column.figure);
    }
  }
  return out + close_table;
}

/// The collectives that any library was measured with: (test, ranks).
std::set<std::pair<std::string, int>> collectives_of(const Subjects& subjects) {
  std::set<std::pair<std::string, int>> kinds;
  for (const measure::Results* results : subjects.libraries) {
    for (const measure::Series& series : results->series) {
      if (is_collective(series.test)) {
        kinds.insert({series.test, series.ranks});
      }
    }
  }
  return kinds;
}

std::string collective_table(const Subjects& subjects) {
  const auto kinds = collectives_of(subjects);
  if (kinds.empty()) {
    return "";
  }
  std::string out = open_table("Collectives, µs", library_heads(subjects, "call"));
  for (const auto& [test, ranks] : kinds) {
    for (const std::size_t bytes : sizes_of(subjects, test)) {
      const std::string size = bytes > 0 ? ", " + measure::size_text(bytes) : "";
      const std::string call = fmt::format("{}{}, {} ranks", test, size, ranks);
      out += comparison_row(call, subjects, test, ranks, bytes, Figure::microseconds);
    }
  }
  return out + close_table;
}

std::string tile(const std::string& name, const std::string& value, const char* unit,
                 const std::string& than) {
  return fmt::format(
      "<div class='tile'><div class='name'>{}</div><div class='value'>{}<small>{}</small></div>"
      "<div class='than'>{}</div></div>\n",
      name, value, unit, than);
}

/// The fastest other library at that point, in words.
std::string best_other(const Subjects& subjects, const char* test, std::size_t bytes, Figure figure,
                       const char* unit) {
  const measure::Point* best = nullptr;
  std::string label;
  for (std::size_t i = 1; i < subjects.libraries.size(); ++i) {
    const auto* point = find_point(find_series(*subjects.libraries[i], test), bytes);
    if (point != nullptr && (best == nullptr || point->median_ns < best->median_ns)) {
      best = point;
      label = subjects.libraries[i]->label;
    }
  }
  return best == nullptr ? ""
                         : fmt::format("{}: {} {}", escape(label),
                                       short_number(figure_of(figure, *best)), unit);
}

std::string peak_tile(const Subjects& subjects, const char* name, const char* test, Figure figure,
                      const char* unit) {
  const measure::Series* series = find_series(*subjects.libraries[0], test);
  if (series == nullptr || series->points.empty()) {
    return "";
  }
  const auto peak = std::max_element(
      series->points.begin(), series->points.end(),
      [&](const auto& a, const auto& b) { return figure_of(figure, a) < figure_of(figure, b); });
  const std::string where = fmt::format("{}, {}", name, measure::size_text(peak->bytes));
  return tile(where, short_number(figure_of(figure, *peak)), unit,
              best_other(subjects, test, peak->bytes, figure, unit));
}

}  // namespace

std::string tables(const Subjects& subjects) {
  if (subjects.libraries.empty()) {
    return "";
  }
  std::string out = "<div class='tables grid2'>";
  if (subjects.libraries.size() == 1) {
    out += single_table(subjects);
  } else {
    for (const Column& column : columns) {
      out += comparison_table(subjects, column);
    }
  }
  return out + collective_table(subjects) + "</div>\n";
}

std::string tiles(const Subjects& subjects) {
  if (subjects.libraries.empty()) {
    return "";
  }
  constexpr std::size_t word = 8;
  const measure::Results& subject = *subjects.libraries[0];
  std::string out = "<div class='tiles'>";
  if (const auto* point = find_point(find_series(subject, "latency"), word)) {
    out += tile("8-byte latency, one way", short_number(point->median_ns / 1000), "µs",
                best_other(subjects, "latency", word, Figure::microseconds, "µs"));
  }
  out += peak_tile(subjects, "Peak message rate", "bandwidth", Figure::million, "M/s");
  out += peak_tile(subjects, "Peak bandwidth", "bandwidth", Figure::gigabytes, "GB/s");
  out += peak_tile(subjects, "Peak both ways", "bibw", Figure::gigabytes, "GB/s");
  if (subject.init_ms > 0) {
    out += tile(fmt::format("MPI_Init, {} ranks", subject.init_ranks),
                short_number(subject.init_ms), "ms", "");
  }
  return out + "</div>\n";
}

}  // namespace fulmar::report
