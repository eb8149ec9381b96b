// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// How fast files are through MPI, as a plain MPI program that any MPI's compiler wrapper compiles:
//   mpicxx -std=c++20 -O2 -I tools bench/files/*.cc
//     tools/fulmar/measure/{batches,json,results}.cc -o filebench
// Usage: mpiexec -n N filebench --folder FOLDER [--tests a,b] [--milliseconds N] [--raw yes]
// The result file goes to standard output.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "cases.h"
#include "fulmar/measure/batches.h"
#include "fulmar/measure/json.h"

namespace {

using fulmar::files::Kind;
using fulmar::files::Place;

struct Options {
  std::string folder = "/dev/shm";
  std::vector<std::string> tests;
  double milliseconds = 20;
  bool raw = false;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    const std::string value = argv[i + 1];
    if (option == "--folder") {
      options.folder = value;
    } else if (option == "--milliseconds") {
      options.milliseconds = std::strtod(value.c_str(), nullptr);
    } else if (option == "--raw") {
      options.raw = value == "yes";
    } else if (option == "--tests") {
      std::istringstream items(value);
      for (std::string item; std::getline(items, item, ',');) options.tests.push_back(item);
    } else {
      std::fprintf(stderr, "filebench: unknown option '%s'\n", option.c_str());
      std::exit(2);
    }
  }
  return options;
}

bool is_asked_for(const Options& options, const Kind& kind, int ranks) {
  if (kind.fits != nullptr && !kind.fits(ranks)) return false;
  if (options.raw && !kind.has_raw) return false;
  if (options.tests.empty()) return true;
  for (const std::string& test : options.tests) {
    if (test == kind.name) return true;
  }
  return false;
}

void measure(const Options& options, const Place& place, const Kind& kind,
             fulmar::measure::Results& results) {
  // Where ranks share cores, a batch outlasts several time slices.
  fulmar::measure::Budget budget;
  budget.batch_ns = place.ranks > 2 ? 4e6 : 1e6;
  budget.point_ns = options.milliseconds * 1e6;
  budget.least_batches = 5;
  const auto agree = [&](int value) {
    MPI_Bcast(&value, 1, MPI_INT, 0, place.comm);
    return value;
  };
  for (const std::size_t bytes : kind.sizes) {
    const auto one = kind.make(place, bytes);
    const auto point =
        fulmar::measure::measure(agree, bytes, 1, budget, [&](int count) { one->run(count); });
    series_of(results, kind.name, place.ranks).points.push_back(point);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Options options = parse(argc, argv);
  Place place;
  place.folder = options.folder;
  place.raw = options.raw;
  MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place.ranks);
  fulmar::measure::Results results;
  describe_machine(results);
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  results.library = std::string(text).substr(0, std::string(text).find('\n'));
  for (const Kind& kind : fulmar::files::kinds()) {
    if (is_asked_for(options, kind, place.ranks)) measure(options, place, kind, results);
  }
  if (place.rank == 0) std::cout << fulmar::measure::to_json(results);
  MPI_Finalize();
  return 0;
}
