// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The limits of the machine, without MPI: what a message, a copy and a barrier cost at the least.
// The result file has the format of `fulmar bench --json`, so that its lines can be drawn beside
// the libraries' curves. Usage: fulmar-raw [--milliseconds N] [--json FILE]
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>

#include "fulmar/measure/json.h"
#include "tests.h"

namespace {

using fulmar::measure::Budget;
using fulmar::measure::Point;
using fulmar::measure::Results;
using SizeTest = Point (*)(std::size_t, const Budget&);

struct Options {
  Budget budget;
  std::string tests;  ///< between commas; empty: all
  std::string file;
};

Options parse(int argc, char** argv) {
  Options options;
  options.budget.point_ns = 100e6;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--milliseconds") {
      options.budget.point_ns = std::strtod(argv[i + 1], nullptr) * 1e6;
    } else if (option == "--tests") {
      options.tests = "," + std::string(argv[i + 1]) + ",";
    } else if (option == "--json") {
      options.file = argv[i + 1];
    } else {
      std::fprintf(
          stderr, "fulmar-raw: unknown option '%s': --milliseconds N, --tests NAMES, --json FILE\n",
          argv[i]);
      std::exit(2);
    }
  }
  return options;
}

class Run {
 public:
  Run(const Options& options, Results& results) : options_(options), results_(results) {}

  void one(const char* name, int processes, const std::function<Point(const Budget&)>& test) {
    if (wanted(name)) {
      series_of(results_, name, processes).points.push_back(test(options_.budget));
    }
  }

  void sweep(const char* name, SizeTest test, std::size_t first, std::size_t last) {
    for (std::size_t bytes = first; bytes <= last && wanted(name);
         bytes = bytes == 0 ? 1 : bytes * 2) {
      series_of(results_, name, 2).points.push_back(test(bytes, options_.budget));
    }
  }

 private:
  [[nodiscard]] bool wanted(const std::string& name) const {
    return options_.tests.empty() || options_.tests.find("," + name + ",") != std::string::npos;
  }

  const Options& options_;
  Results& results_;
};

void measure_all(Run run) {
  constexpr std::size_t page = 4096;
  constexpr std::size_t largest = 4 << 20;
  namespace raw = fulmar::raw;
  run.one("raw-cache-line", 2,
          [](const Budget& budget) { return raw::cache_line(raw::Spin::tight, budget); });
  run.one("raw-cache-line-pause", 2,
          [](const Budget& budget) { return raw::cache_line(raw::Spin::with_pause, budget); });
  run.sweep("raw-ring", raw::ring_latency, 0, page);
  run.sweep("raw-ring-stream", raw::ring_stream, 1, 16 * page);
  constexpr auto hot = [](std::size_t bytes, const Budget& budget) {
    return raw::copy_hot(bytes, 0, budget);
  };
  constexpr auto into_malloc = [](std::size_t bytes, const Budget& budget) {
    return raw::copy_hot(bytes, 16, budget);
  };
  run.sweep("raw-copy-hot", hot, 1024, largest);
  run.sweep("raw-copy-malloc", into_malloc, 1024, largest);
  run.sweep("raw-copy-cold", raw::copy_cold, 1024, largest);
  if (raw::cma_allowed()) {
    run.sweep("raw-cma-one", raw::cma_one, page, largest);
    run.sweep("raw-cma-two", raw::cma_two, 2 * page, largest);
  }
  run.sweep("raw-pipe", raw::pipe_latency, 2 * page, largest);
  run.sweep("raw-pipe-stream", raw::pipe_stream, 2 * page, largest);
  for (const int ranks : {2, 4, 8}) {
    run.one("raw-barrier", ranks,
            [ranks](const Budget& budget) { return raw::yield_barrier(ranks, budget); });
  }
  run.one("raw-futex-wake", 2, raw::futex_wake);
  if (raw::verbs_allowed()) {
    run.sweep("raw-verbs", raw::verbs_latency, 8, page);
    run.sweep("raw-verbs-write", raw::verbs_write, 1024, largest);
    run.sweep("raw-verbs-read", raw::verbs_read, 1024, largest);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) < 2) {
    std::fprintf(stderr, "fulmar-raw: this process may use one core only; the limits need two\n");
    return 1;
  }
  Results results;
  results.label = "raw machine";
  results.library = "no MPI: bare cache lines, copies and barriers";
  fulmar::measure::describe_machine(results);
  measure_all(Run(options, results));
  const std::string text = to_json(results);
  if (options.file.empty()) {
    std::cout << text;
  } else if (!(std::ofstream(options.file) << text).flush()) {
    std::fprintf(stderr, "fulmar-raw: cannot write %s\n", options.file.c_str());
    return 1;
  }
  return 0;
}
