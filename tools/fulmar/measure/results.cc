// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/results.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

namespace fulmar::measure {

namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

}  // namespace

Series& series_of(Results& results, const std::string& test, int ranks) {
  for (Series& series : results.series) {
    if (series.test == test && series.ranks == ranks) {
      return series;
    }
  }
  results.series.push_back({test, ranks, {}});
  return results.series.back();
}

const Series* find_series(const Results& results, const std::string& test) {
  const Series* found = nullptr;
  for (const Series& series : results.series) {
    if (series.test == test && (found == nullptr || series.ranks < found->ranks)) {
      found = &series;
    }
  }
  return found;
}

const Series* find_series(const Results& results, const std::string& test, int ranks) {
  for (const Series& series : results.series) {
    if (series.test == test && series.ranks == ranks) {
      return &series;
    }
  }
  return nullptr;
}

const Point* find_point(const Series* series, std::size_t bytes) {
  if (series != nullptr) {
    for (const Point& point : series->points) {
      if (point.bytes == bytes) {
        return &point;
      }
    }
  }
  return nullptr;
}

const Count* find_count(const Results& results, const std::string& name, std::size_t bytes) {
  for (const Count& count : results.counts) {
    if (count.name == name && count.bytes == bytes) {
      return &count;
    }
  }
  return nullptr;
}

double megabytes_per_second(const Point& point) {
  return point.median_ns > 0 ? static_cast<double>(point.bytes) * 1000 / point.median_ns : 0;
}

double million_per_second(const Point& point) {
  return point.median_ns > 0 ? 1000 / point.median_ns : 0;
}

void describe_machine(Results& results) {
  results.processor = processor_name();
  utsname name{};
  if (uname(&name) == 0) {
    results.kernel = std::string(name.sysname) + " " + name.release + " " + name.machine;
  }
  results.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32];
  gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  results.time = text;
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kibibyte = 1024;
  if (bytes >= kibibyte * kibibyte && bytes % (kibibyte * kibibyte) == 0) {
    return std::to_string(bytes / kibibyte / kibibyte) + " MiB";
  }
  if (bytes >= kibibyte && bytes % kibibyte == 0) {
    return std::to_string(bytes / kibibyte) + " KiB";
  }
  return std::to_string(bytes) + " B";
}

}  // namespace fulmar::measure
