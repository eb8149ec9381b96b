// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fulmar::measure {

/// One measured size. Every figure is nanoseconds per operation: one way for latency, one message
/// for bandwidth and rate (messages of both directions or of all pairs count), one call for
/// collectives.
struct Point {
  std::size_t bytes = 0;
  double median_ns = 0;          ///< median over batches
  double low_ns = 0;             ///< 10th percentile over batches
  double high_ns = 0;            ///< 90th percentile over batches
  std::uint64_t operations = 0;  ///< operations timed in all batches together
  std::uint32_t batches = 0;
};

/// The points of one test at one number of ranks, by growing size.
struct Series {
  std::string test;
  int ranks = 0;
  std::vector<Point> points;
};

/// What the library's own counters (MPI_T) say about a message of a test that only sends some.
struct Count {
  std::string name;  ///< of the variable
  std::size_t bytes = 0;
  double per_message = 0;  ///< all ranks together
};

/// The steps of an exchange over time.
struct Timeline {
  struct Phase {
    std::string name;
    double begin_ms = 0;
    double end_ms = 0;
  };
  struct Step {
    double end_ms = 0;
    double microseconds = 0;
  };
  std::vector<Phase> phases;  ///< in which something else happened, too
  std::vector<Step> longest;  ///< of each short time, by growing time
};

/// What one program run found out: the content of a result file.
struct Results {
  std::string label;    ///< short name for legends, "Fulmar"
  std::string library;  ///< first line of MPI_Get_library_version
  std::string commit;   ///< of the library, if known
  std::string processor;
  std::string kernel;
  int cores = 0;       ///< of the machine
  std::string time;    ///< UTC, ISO 8601
  double init_ms = 0;  ///< MPI_Init, the slowest rank; 0 = not measured
  int init_ranks = 0;
  std::vector<Series> series;
  std::vector<Count> counts;  ///< where they were asked for
  std::vector<Timeline> timelines;
};

/// The series of that test and number of ranks, made if absent.
Series& series_of(Results& results, const std::string& test, int ranks);
/// The series of that test with the fewest ranks, or null.
const Series* find_series(const Results& results, const std::string& test);
/// The series of that test at that number of ranks, or null.
const Series* find_series(const Results& results, const std::string& test, int ranks);
/// The point of that size, or null.
const Point* find_point(const Series* series, std::size_t bytes);

/// The count of that name and size, or null.
const Count* find_count(const Results& results, const std::string& name, std::size_t bytes);

/// Megabytes (10^6) a second.
double megabytes_per_second(const Point& point);
/// Million operations a second.
double million_per_second(const Point& point);

/// Fills processor, kernel, cores and time.
void describe_machine(Results& results);

/// "8 B", "64 KiB", "4 MiB".
std::string size_text(std::size_t bytes);

}  // namespace fulmar::measure
