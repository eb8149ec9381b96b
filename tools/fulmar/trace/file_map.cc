// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/trace/file_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fulmar/report/chart.h"

namespace fulmar::trace {

namespace {

using Access = wire::TraceFileAccess;

struct Limits {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

void widen(Limits& limits, const Access& access) {
  if (access.end <= access.first) {
    return;
  }
  const bool is_new = limits.end <= limits.first;
  limits.first = is_new ? access.first : std::min(limits.first, access.first);
  limits.end = is_new ? access.end : std::max(limits.end, access.end);
}

std::map<std::string, Limits> limits_of(const std::vector<wire::TraceFile>& traces) {
  std::map<std::string, Limits> limits;
  for (const wire::TraceFile& trace : traces) {
    for (const Access& access : trace.accesses) {
      widen(limits[trace.paths[access.file]], access);
    }
  }
  return limits;
}

/// Spreads the bytes of an access evenly over the cells between its first and its last byte.
void add(FileMap::Bytes& cells, const FileMap& map, const Access& access) {
  if (access.end <= access.first) {
    return;
  }
  const auto first = static_cast<std::size_t>((access.first - map.first) / map.cell_bytes);
  const auto last = static_cast<std::size_t>((access.end - 1 - map.first) / map.cell_bytes);
  const std::uint64_t share = std::max<std::uint64_t>(access.bytes / (last - first + 1), 1);
  for (std::size_t cell = first; cell <= last; ++cell) {
    const std::uint64_t sum = cells[cell] + share;
    cells[cell] = sum < share ? UINT64_MAX : sum;
  }
}

FileMap::Lane& lane_of(FileMap& map, std::uint32_t rank) {
  const auto found =
      std::ranges::find_if(map.lanes, [&](const FileMap::Lane& lane) { return lane.rank == rank; });
  if (found != map.lanes.end()) {
    return *found;
  }
  map.lanes.emplace_back().rank = rank;
  return map.lanes.back();
}

bool has_lane(const FileMap& map, std::uint32_t rank) {
  return map.lanes.size() < most_map_lanes ||
         std::ranges::any_of(
             map.lanes, [&](const FileMap::Lane& lane) { return lane.rank == rank; });
}

void fill(FileMap& map, const wire::TraceFile& trace) {
  for (const Access& access : trace.accesses) {
    if (trace.paths[access.file] != map.path || !has_lane(map, trace.rank)) {
      continue;
    }
    FileMap::Lane& lane = lane_of(map, trace.rank);
    if (access.kind != Access::Kind::system_call) {
      add(lane.asked, map, access);
    } else {
      const bool reads = trace.names[access.name].find("read") != std::string::npos;
      add(reads ? lane.read : lane.written, map, access);
    }
  }
}

// The picture, in its own units.
constexpr double left = 90;
constexpr double width = 1100;
constexpr double right = 45;  // half of the last number
constexpr double row_height = 8;
constexpr double lane_height = 4 * row_height;
constexpr double top = 24;

std::string size_text(double value) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  return report::short_number(value) + " " + units[unit];
}

/// Neighbouring cells that have anything are one rectangle; the darker the more was moved.
void add_row(const FileMap::Bytes& bytes, const FileMap& map, double y, const char* style,
             const char* what, std::string& out) {
  const std::uint64_t most = *std::ranges::max_element(bytes);
  constexpr double cell_width = width / FileMap::cells;
  constexpr int shades = 4;
  const auto shade = [&](std::size_t cell) {
    return bytes[cell] == 0 ? 0
                            : 1 + static_cast<int>((shades - 1) * static_cast<double>(bytes[cell]) /
                                                   static_cast<double>(most));
  };
  for (std::size_t cell = 0; cell < FileMap::cells;) {
    const int dark = shade(cell);
    const std::size_t begin = cell;
    while (cell < FileMap::cells && shade(cell) == dark) {
      ++cell;
    }
    if (dark == 0) {
      continue;
    }
    const auto from = map.first + static_cast<std::int64_t>(begin) * map.cell_bytes;
    out += fmt::format(
        "<rect class='{}' x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='currentColor' "
        "fill-opacity='{:.2f}'><title>{}: {} from byte {}</title></rect>\n",
        style, left + static_cast<double>(begin) * cell_width, y,
        static_cast<double>(cell - begin) * cell_width, row_height - 1, 0.25 + 0.75 * dark / shades,
        what, size_text(static_cast<double>(cell - begin) * static_cast<double>(map.cell_bytes)),
        from);
  }
}

}  // namespace

std::vector<FileMap> file_maps(const std::vector<wire::TraceFile>& traces) {
  std::vector<FileMap> maps;
  for (const auto& [path, limits] : limits_of(traces)) {
    if (limits.end <= limits.first || maps.size() == most_maps) {
      continue;
    }
    FileMap& map = maps.emplace_back();
    map.path = path;
    map.first = limits.first;
    map.cell_bytes =
        (limits.end - limits.first - 1) / static_cast<std::int64_t>(FileMap::cells) + 1;
    for (const wire::TraceFile& trace : traces) {
      fill(map, trace);
    }
    std::ranges::sort(map.lanes, {}, &FileMap::Lane::rank);
  }
  return maps;
}

std::string svg(const FileMap& map) {
  const double height = top + lane_height * static_cast<double>(map.lanes.size()) + 6;
  std::string out = fmt::format(
      "<h2>{}</h2>\n<div class='legend'><span class='s5'><i></i>asked for by the program</span>"
      "<span class='s1'><i></i>written by system calls</span><span class='s0'><i></i>read by "
      "system "
      "calls</span></div>\n<svg viewBox='0 0 {:.0f} {:.0f}' role='img'>\n",
      report::escape(map.path), left + width + right, height);
  constexpr int ticks = 8;
  for (int tick = 0; tick <= ticks; ++tick) {
    const double x = left + width * tick / ticks;
    const double offset = static_cast<double>(map.first) + static_cast<double>(map.cell_bytes) *
                                                               static_cast<double>(FileMap::cells) *
                                                               tick / ticks;
    out += fmt::format(
        "<line class='grid' x1='{0:.1f}' y1='{1:.0f}' x2='{0:.1f}' y2='{2:.0f}'/><text class='tick "
        "middle' x='{0:.1f}' y='{3:.0f}'>{4}</text>\n",
        x, top - 6, height, top - 10, size_text(offset));
  }
  double y = top;
  for (const FileMap::Lane& lane : map.lanes) {
    out += fmt::format("<text class='tick end' x='{:.0f}' y='{:.0f}'>rank {}</text>\n", left - 10,
                       y + 2 * row_height, lane.rank);
    add_row(lane.asked, map, y, "s5", "asked for", out);
    add_row(lane.written, map, y + row_height, "s1", "written", out);
    add_row(lane.read, map, y + 2 * row_height, "s0", "read", out);
    y += lane_height;
  }
  return out + "</svg>\n";
}

}  // namespace fulmar::trace
