// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The measurements of `fulmar bench` as a plain MPI program that any MPI's compiler wrapper
// compiles:
//   mpicxx -std=c++20 -O2 -I tools bench/p2p/main.cc tools/fulmar/measure/*.cc -o mpibench
// Usage: mpiexec -n N mpibench [--tests a,b] [--sizes 8,1024] [--milliseconds N] [--first CALLS]
// [--offset N] [--label NAME] [--json FILE] Without --json the result file goes to standard output.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "fulmar/measure/json.h"
#include "fulmar/measure/plan.h"

namespace {

using fulmar::measure::Plan;
using fulmar::measure::Results;

struct Options {
  Plan plan;
  std::string label = "MPI";
  std::string file;
};

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "mpibench: %s\n", text.c_str());
  std::exit(2);
}

void add_test(Plan& plan, const std::string& text) {
  const auto test = fulmar::measure::test_from(text);
  if (!test) {
    std::string known;
    for (const std::string& name : fulmar::measure::test_names()) {
      known += " " + name;
    }
    fail("unknown test '" + text + "'; there are" + known);
  }
  plan.tests.push_back(*test);
}

template <typename Use>
void each(const std::string& list, Use use) {
  std::istringstream items(list);
  for (std::string item; std::getline(items, item, ',');) {
    use(item);
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 >= argc) {
      fail("option " + option + " needs a value");
    }
    const std::string value = argv[i + 1];
    if (option == "--tests") {
      each(value, [&](const std::string& item) { add_test(options.plan, item); });
    } else if (option == "--sizes") {
      each(value, [&](const std::string& item) {
        options.plan.sizes.push_back(std::strtoull(item.c_str(), nullptr, 10));
      });
    } else if (option == "--milliseconds") {
      options.plan.budget.point_ns = std::strtod(value.c_str(), nullptr) * 1e6;
    } else if (option == "--first") {
      options.plan.budget.first_calls = std::atoi(value.c_str());
    } else if (option == "--offset") {
      options.plan.offset = std::strtoull(value.c_str(), nullptr, 10);
    } else if (option == "--label") {
      options.label = value;
    } else if (option == "--json") {
      options.file = value;
    } else {
      fail("unknown option '" + option + "'");
    }
  }
  return options;
}

void write(const Results& results, const std::string& file) {
  const std::string text = fulmar::measure::to_json(results);
  if (file.empty()) {
    std::cout << text;
  } else if (!(std::ofstream(file) << text).flush()) {
    fail("cannot write " + file);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double start = fulmar::measure::now_ns();
  MPI_Init(&argc, &argv);
  const double init_ms = (fulmar::measure::now_ns() - start) / 1e6;
  const Options options = parse(argc, argv);
  Results results;
  results.label = options.label;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &results.init_ranks);
  results.init_ms = fulmar::measure::slowest(MPI_COMM_WORLD, init_ms);
  fulmar::measure::describe_machine(results);
  fulmar::measure::describe_library(results);
  fulmar::measure::run(options.plan, MPI_COMM_WORLD, results, [](const auto&) {});
  if (rank == 0) {
    write(results, options.file);
  }
  MPI_Finalize();
  return 0;
}
