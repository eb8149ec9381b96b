// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/bench/bench.h"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>

#include "fulmar/bench/restart.h"
#include "fulmar/bench/table.h"
#include "fulmar/files.h"
#include "fulmar/measure/counts.h"
#include "fulmar/measure/interfaces.h"
#include "fulmar/measure/json.h"
#include "fulmar/report/page.h"

namespace fulmar::bench {

namespace {

using measure::Results;

int complain(const std::string& text) {
  fmt::print(stderr, "fulmar bench: {}\n", text);
  return 1;
}

std::string label_from(const std::string& library) {
  for (const char* name : {"Fulmar", "Open MPI", "MPICH", "Intel(R) MPI"}) {
    if (library.starts_with(name)) {
      return name;
    }
  }
  return library.substr(0, library.find(' '));
}

void print_about(const Results& results, const std::vector<Results>& others, int ranks) {
  fmt::print("{}\n{}, {} cores, {} ranks, MPI_Init {:.1f} ms\n", results.library, results.processor,
             results.cores, ranks, results.init_ms);
  if (!others.empty()) {
    std::string names;
    for (const Results& other : others) {
      names += (names.empty() ? "" : ", ") + other.label;
    }
    fmt::print("1.50x: 1.5 times as fast as the fastest of {}\n", names);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

/// Writes what was asked for; the exit code. The path of the report is printed last.
int write_out(const Options& options, const Results& results, const std::vector<Results>& others) {
  std::string problem;
  if (!options.json.empty()) {
    problem = write_file(options.json, to_json(results));
  }
  if (problem.empty() && !options.html.empty()) {
    std::vector<Results> all{results};
    all.insert(all.end(), others.begin(), others.end());
    problem = write_file(options.html, report::page(all));
  }
  if (!problem.empty()) {
    return complain(problem);
  }
  fmt::print("\n");
  for (const std::string* file : {&options.json, &options.html}) {
    if (!file->empty()) {
      fmt::print("{}\n", *file);
    }
  }
  return 0;
}

/// Without the limits of the bare machine: those are drawn, but are not compared with.
std::vector<Results> libraries_of(const std::vector<Results>& files) {
  std::vector<Results> libraries;
  for (const Results& file : files) {
    if (file.series.empty() || !file.series.front().test.starts_with("raw-")) {
      libraries.push_back(file);
    }
  }
  return libraries;
}

void count(const Options& options, Results& results) {
  for (const std::size_t bytes : options.counts) {
    const std::vector<measure::Count> counts = measure::count_messages(MPI_COMM_WORLD, bytes);
    results.counts.insert(results.counts.end(), counts.begin(), counts.end());
  }
}

/// Everything after MPI_Init on rank 0.
int lead(const Options& options, Results& results, int ranks) {
  std::string problem;
  auto others = read_all_results(options.compare, problem);
  if (!others) {
    complain(problem);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  measure::describe_machine(results);
  measure::describe_library(results);
  results.label = options.label.empty() ? label_from(results.library) : options.label;
  results.commit = options.commit;
  const std::vector<Results> libraries = libraries_of(*others);
  print_about(results, libraries, ranks);
  Table table(options.plan, libraries, stdout);
  measure::run(options.plan, MPI_COMM_WORLD, results,
               [&](const measure::Progress& progress) { table.add(progress, ranks); });
  table.finish();
  count(options, results);
  return write_out(options, results, *others);
}

/// Why tests of the interfaces cannot be run with so many ranks and this library; empty: nothing.
std::string obstacle(const measure::Plan& plan, int ranks) {
  for (const measure::Kind test : plan.tests) {
    if (!measure::is_of_interface(test)) continue;
    if (ranks != 2) return fmt::format("{}: needs 2 ranks, and there are {}", name(test), ranks);
    if (std::string problem = measure::missing_library(test); !problem.empty()) return problem;
  }
  return {};
}

int run_rank(const Options& options) {
  const double start = measure::now_ns();
  MPI_Init(nullptr, nullptr);
  constexpr double ns_per_ms = 1e6;
  const double init_ms = (measure::now_ns() - start) / ns_per_ms;
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) {
    MPI_Finalize();
    return complain("needs at least 2 ranks: mpiexec -n 2 fulmar bench, or without mpiexec -n 2");
  }
  if (const std::string problem = obstacle(options.plan, ranks); !problem.empty()) {
    MPI_Finalize();
    return rank == 0 ? complain(problem) : 1;
  }
  Results results;
  results.init_ms = measure::slowest(MPI_COMM_WORLD, init_ms);
  results.init_ranks = ranks;
  int code = 0;
  if (rank == 0) {
    code = lead(options, results, ranks);
  } else {
    measure::run(options.plan, MPI_COMM_WORLD, results, [](const measure::Progress&) {});
    count(options, results);
  }
  MPI_Finalize();
  return code;
}

}  // namespace

int run(const Options& options, const std::vector<std::string>& arguments) {
  if (started_by_launcher()) {
    return run_rank(options);
  }
  std::string problem;
  if (!read_all_results(options.compare, problem)) {
    return complain(problem);
  }
  return complain(restart(options.ranks, arguments));
}

}  // namespace fulmar::bench
