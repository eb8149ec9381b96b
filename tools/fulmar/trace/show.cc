// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/trace/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fulmar/measure/results.h"
#include "fulmar/report/chart.h"
#include "fulmar/report/style_sheet.h"
#include "fulmar/trace/file_table.h"
#include "fulmar/trace/time_text.h"

namespace fulmar::trace {

namespace {

using report::escape;
using report::short_number;

constexpr std::size_t name_width = 44;

std::string bytes_each(const Node& node) {
  return node.bytes == 0 || node.count == 0
             ? ""
             : short_number(static_cast<double>(node.bytes) / static_cast<double>(node.count));
}

void add_lines(const Node& node, std::size_t depth, std::string& out) {
  for (const Node& at : node.below) {
    const std::string name = std::string(2 * depth, ' ') + at.name;
    out += fmt::format("{:<{}} {:>9} {:>12} {:>10} {:>10} {:>10}\n", name, name_width, at.count,
                       short_number(microseconds(at.total_ns)), us_of_each(at.total_ns, at.count),
                       us_of_each(at.self_ns(), at.count), bytes_each(at));
    add_lines(at, depth + 1, out);
  }
}

void add_rows(const Node& node, std::size_t depth, std::string& out) {
  constexpr double indent_em = 1.2;
  for (const Node& at : node.below) {
    out += fmt::format(
        "<tr><td style='padding-left:{:.1f}em'>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td></tr>\n",
        0.6 + indent_em * static_cast<double>(depth), escape(at.name), at.count,
        short_number(microseconds(at.total_ns)), us_of_each(at.total_ns, at.count),
        us_of_each(at.self_ns(), at.count), bytes_each(at));
    add_rows(at, depth + 1, out);
  }
}

std::string matrix_html(const Matrix& matrix) {
  std::string out =
      "<h2>Who posted to whom</h2>\n<p class='note'>Packets, and bytes in them or ordered from "
      "adapters; rows send. What kernels and boards copy is not in it.</p>\n<div class='scroll'>"
      "<table><tr><th></th>";
  for (std::size_t to = 0; to < matrix.size; ++to) {
    out += fmt::format("<th>{}</th>", to);
  }
  out += "</tr>\n";
  for (std::size_t from = 0; from < matrix.size; ++from) {
    out += fmt::format("<tr><td>rank {}</td>", from);
    for (std::size_t to = 0; to < matrix.size; ++to) {
      const Sum& cell = matrix.at(from, to);
      out += cell.count == 0 ? "<td></td>"
                             : fmt::format("<td title='{} packets'>{} B</td>", cell.count,
                                           short_number(static_cast<double>(cell.bytes)));
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

Node tree_of_all(const std::vector<wire::TraceFile>& traces) {
  Node tree;
  for (const wire::TraceFile& trace : traces) {
    merge(tree, tree_of(trace));
  }
  return tree;
}

std::uint64_t spans_of(const std::vector<wire::TraceFile>& traces) {
  std::uint64_t count = 0;
  for (const wire::TraceFile& trace : traces) {
    count += static_cast<std::uint64_t>(
        std::count_if(trace.events.begin(), trace.events.end(),
                      [](const wire::TraceEvent& event) { return event.begins(); }));
  }
  return count;
}

/// Times since 1970, in microseconds since the first event of all.
class Timeline {
 public:
  explicit Timeline(const std::vector<wire::TraceFile>& traces) {
    for (const wire::TraceFile& trace : traces) {
      for (const wire::TraceEvent& event : trace.events) {
        first_ = std::min(first_, absolute(trace, event));
      }
    }
  }
  [[nodiscard]] double microseconds(const wire::TraceFile& trace,
                                    const wire::TraceEvent& event) const {
    return static_cast<double>(absolute(trace, event) - first_) / ns_per_us;
  }

 private:
  /// Files may hold any numbers: what does not fit goes round.
  static std::uint64_t absolute(const wire::TraceFile& trace, const wire::TraceEvent& event) {
    return event.ns + static_cast<std::uint64_t>(trace.clock_ns);
  }
  std::uint64_t first_ = std::numeric_limits<std::uint64_t>::max();
};

/// A plain name as a string of JSON.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + "\"";
}

std::string chrome_event(const wire::TraceFile& trace, const wire::TraceEvent& event,
                         const Timeline& timeline) {
  const double us = timeline.microseconds(trace, event);
  if (!event.begins()) {
    return fmt::format(R"({{"ph":"E","pid":{},"tid":{},"ts":{:.3f}}})", trace.rank, event.thread,
                       us);
  }
  const std::string peer =
      event.peer == wire::TraceEvent::no_peer ? "" : fmt::format(R"("peer":{},)", event.peer);
  return fmt::format(
      R"({{"ph":"B","pid":{},"tid":{},"ts":{:.3f},"name":{},"args":{{{}"bytes":{}}}}})", trace.rank,
      event.thread, us, quoted(trace.names[event.name]), peer, event.bytes);
}

}  // namespace

std::string tree_text(const Node& tree) {
  std::string out = fmt::format("{:<{}} {:>9} {:>12} {:>10} {:>10} {:>10}\n", "", name_width,
                                "count", "us in all", "us each", "us itself", "bytes");
  add_lines(tree, 0, out);
  return out;
}

std::string tree_html(const Node& tree) {
  std::string out =
      "<div class='scroll'><table><tr><th></th><th>count</th><th>µs in all</th><th>µs each</th>"
      "<th>µs itself</th><th>bytes each</th></tr>\n";
  add_rows(tree, 0, out);
  return out + "</table></div>\n";
}

std::string summary_text(const std::vector<wire::TraceFile>& traces, const Node& tree) {
  std::uint64_t lost = 0;
  std::uint64_t cost = 0;
  for (const wire::TraceFile& trace : traces) {
    lost += trace.lost;
    cost = std::max(cost, trace.cost_ns);
  }
  std::string out = fmt::format("{} ranks, {} calls and stages; recording one takes {} ns\n",
                                traces.size(), spans_of(traces), cost);
  if (lost > 0) {
    out += fmt::format(
        "{} older records are gone; FULMAR_TRACE_RECORDS keeps more (65536 a rank by default)\n",
        lost);
  }
  std::vector<Node> calls = tree.below;
  std::sort(calls.begin(), calls.end(),
            [](const Node& a, const Node& b) { return a.total_ns > b.total_ns; });
  for (const Node& call : calls) {
    const double share = tree.total_ns == 0 ? 0
                                            : 100 * static_cast<double>(call.total_ns) /
                                                  static_cast<double>(tree.total_ns);
    out += fmt::format("{:>5.1f} %  {:<32} {:>9} times, {} us each\n", share, call.name, call.count,
                       us_of_each(call.total_ns, call.count));
  }
  return out;
}

std::string page(const std::vector<wire::TraceFile>& traces) {
  const Node tree = tree_of_all(traces);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>\n<meta name='viewport' "
      "content='width=device-width, initial-scale=1'>\n<title>Fulmar: trace</title>\n"
      "<style>{}</style></head>\n<body><main>\n<h1>Calls and their stages</h1>\n"
      "<pre class='about'>{}</pre>\n",
      report::style_sheet, escape(summary_text(traces, tree)));
  out += "<section class='card tables'><h2>All ranks together</h2>\n" + tree_html(tree);
  out += "</section>\n<section class='card tables'>" + matrix_html(matrix_of(traces));
  out += "</section>\n" + file_html(traces);
  return out + "</main></body></html>\n";
}

std::string chrome_json(const std::vector<wire::TraceFile>& traces) {
  const Timeline timeline(traces);
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (const wire::TraceFile& trace : traces) {
    out +=
        fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":"rank {}"}}}},)",
                    trace.rank, trace.rank);
    out += "\n";
    for (const wire::TraceEvent& event : trace.events) {
      out += chrome_event(trace, event, timeline) + ",\n";
    }
  }
  if (!traces.empty()) {
    out.erase(out.size() - 2, 1);
  }
  return out + "]}\n";
}

}  // namespace fulmar::trace
