// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/trace/file_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "fulmar/report/chart.h"
#include "fulmar/trace/file_map.h"
#include "fulmar/trace/time_text.h"

namespace fulmar::trace {

namespace {

using report::escape;
using report::short_number;
using Access = wire::TraceFileAccess;

/// The rows, found by path, rank and call.
class Rows {
 public:
  FileRow& at(const wire::TraceFile& trace, const Access& access) {
    const std::string& path = trace.paths[access.file];
    const std::string& call = trace.names[access.name];
    const auto [found, is_new] =
        places_.try_emplace(std::tuple(path, trace.rank, call), rows_.size());
    if (is_new) {
      rows_.emplace_back();
      rows_.back().path = path;
      rows_.back().rank = trace.rank;
      rows_.back().call = call;
    }
    return rows_[found->second];
  }
  std::vector<FileRow> take() {
    std::ranges::stable_sort(rows_, [](const FileRow& a, const FileRow& b) {
      return std::tie(a.path, a.rank) < std::tie(b.path, b.rank);
    });
    return std::move(rows_);
  }

 private:
  std::map<std::tuple<std::string, std::uint32_t, std::string>, std::size_t> places_;
  std::vector<FileRow> rows_;
};

void add_access(FileRow& row, const Access& access) {
  const bool has_part = row.end > row.first;
  if (access.end > access.first) {
    row.first = has_part ? std::min(row.first, access.first) : access.first;
    row.end = has_part ? std::max(row.end, access.end) : access.end;
  }
  ++row.count;
  row.exchanged += access.kind == Access::Kind::exchanged_access ? 1 : 0;
  row.bytes += access.bytes;
  row.total_ns += access.end_ns - access.begin_ns;
}

void add_system_call(FileRow& row, const Access& call) {
  ++row.system_calls;
  row.moved += call.bytes;
  row.disk_ns += call.end_ns - call.begin_ns;
}

/// Which of the accesses under way a system call was made for: the newest of the same file that has
/// asked for that byte, else the newest whose data are exchanged, which serves other ranks.
const Access* access_for(const std::vector<const Access*>& under_way, const Access& call) {
  const Access* serving = nullptr;
  for (auto at = under_way.rbegin(); at != under_way.rend(); ++at) {
    const Access& access = **at;
    if (access.file != call.file || access.end_ns < call.end_ns) {
      continue;
    }
    if (call.first >= access.first && call.first < access.end) {
      return &access;
    }
    if (serving == nullptr || serving->kind != Access::Kind::exchanged_access) {
      serving = &access;
    }
  }
  return serving;
}

void add_rank(Rows& rows, const wire::TraceFile& trace) {
  // Files may hold anything: so many are looked at for each system call.
  constexpr std::size_t most_under_way = 256;
  std::vector<const Access*> by_begin;
  by_begin.reserve(trace.accesses.size());
  for (const Access& access : trace.accesses) {
    by_begin.push_back(&access);
  }
  // An access comes before the system calls that were begun in the same nanosecond.
  std::ranges::stable_sort(by_begin, [](const Access* a, const Access* b) {
    return std::pair(a->begin_ns, a->kind == Access::Kind::system_call) <
           std::pair(b->begin_ns, b->kind == Access::Kind::system_call);
  });
  std::vector<const Access*> under_way;
  for (const Access* access : by_begin) {
    if (access->kind != Access::Kind::system_call) {
      add_access(rows.at(trace, *access), *access);
      under_way.push_back(access);
      continue;
    }
    std::erase_if(under_way, [&](const Access* at) { return at->end_ns < access->begin_ns; });
    if (under_way.size() > most_under_way) {
      under_way.erase(under_way.begin(), under_way.end() - most_under_way);
    }
    const Access* cause = access_for(under_way, *access);
    add_system_call(rows.at(trace, cause == nullptr ? *access : *cause), *access);
  }
}

std::string text_in_us(std::uint64_t ns) { return short_number(microseconds(ns)); }

std::string range_of(const FileRow& row) {
  return row.end > row.first ? fmt::format("{} to {}", row.first, row.end - 1) : "";
}

/// A page of a job of many ranks stays readable; the text has all rows.
constexpr std::size_t most_html_rows = 400;

std::string table_html(const std::vector<FileRow>& rows) {
  std::string out =
      "<h2>Accesses to files</h2>\n<p class='note'>System calls are those that the rank made while "
      "such a call was under way, for itself and for others. The time that is not spent in them "
      "goes "
      "to the exchange with other ranks, waiting for them and copying.</p>\n"
      "<div class='scroll'><table><tr><th>file</th><th>rank</th><th>call</th><th>count</th>"
      "<th>exchanged</th><th>bytes</th><th>offsets</th><th>system calls</th><th>bytes each</th>"
      "<th>µs each</th><th>disk µs</th><th>exchange µs</th></tr>\n";
  for (const FileRow& row : std::span(rows).first(std::min(rows.size(), most_html_rows))) {
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</"
        "td>"
        "<td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        escape(row.path), row.rank, escape(row.call), row.count, row.exchanged, row.bytes,
        range_of(row), row.system_calls,
        row.system_calls == 0
            ? ""
            : short_number(static_cast<double>(row.moved) / static_cast<double>(row.system_calls)),
        us_of_each(row.total_ns, row.count), text_in_us(row.disk_ns),
        text_in_us(row.exchange_ns()));
  }
  out += "</table></div>\n";
  if (rows.size() > most_html_rows) {
    out += fmt::format("<p class='note'>{} more rows are printed by fulmar trace.</p>\n",
                       rows.size() - most_html_rows);
  }
  return out;
}

}  // namespace

std::vector<FileRow> file_rows(const std::vector<wire::TraceFile>& traces) {
  Rows rows;
  for (const wire::TraceFile& trace : traces) {
    add_rank(rows, trace);
  }
  return rows.take();
}

std::string file_text(const std::vector<FileRow>& rows) {
  std::string out;
  const std::string* path = nullptr;
  for (const FileRow& row : rows) {
    if (path == nullptr || *path != row.path) {
      path = &row.path;
      out +=
          fmt::format("\nfile {}\n{:>6} {:<28} {:>7} {:>9} {:>12} {:>8} {:>10} {:>10} {:>12}  {}\n",
                      row.path, "rank", "call", "count", "exchanged", "bytes", "syscalls",
                      "us each", "disk us", "exchange us", "offsets");
    }
    out += fmt::format("{:>6} {:<28} {:>7} {:>9} {:>12} {:>8} {:>10} {:>10} {:>12}  {}\n", row.rank,
                       row.call, row.count, row.exchanged, row.bytes, row.system_calls,
                       us_of_each(row.total_ns, row.count), text_in_us(row.disk_ns),
                       text_in_us(row.exchange_ns()), range_of(row));
  }
  return out;
}

std::string file_html(const std::vector<wire::TraceFile>& traces) {
  const std::vector<FileRow> rows = file_rows(traces);
  if (rows.empty()) {
    return "";
  }
  std::string out = "<section class='card tables'>" + table_html(rows);
  for (const FileMap& map : file_maps(traces)) {
    out += svg(map);
  }
  return out + "</section>\n";
}

}  // namespace fulmar::trace
