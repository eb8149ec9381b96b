// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/plan.h"

#include <algorithm>
#include <map>

#include "fulmar/measure/collectives.h"
#include "fulmar/measure/one_sided.h"

namespace fulmar::measure {

namespace {

constexpr int report_tag = 7002;

std::vector<std::size_t> sizes_for(const Plan& plan, Kind test) {
  std::vector<std::size_t> sizes = default_sizes(test);
  if (!plan.sizes.empty() && !is_barrier(test) && !has_one_size(test)) {
    sizes = plan.sizes;
  }
  std::erase_if(sizes, [&](std::size_t bytes) { return bytes > plan.largest; });
  const bool of_doubles = is_of_doubles(test) || test == Kind::strided ||
                          test == Kind::accumulate || test == Kind::accumulate_own;
  if (of_doubles) {
    std::erase_if(sizes,
                  [](std::size_t bytes) { return bytes == 0 || bytes % sizeof(double) != 0; });
  }
  return sizes;
}

}  // namespace

std::vector<Step> steps_of(const Plan& plan) {
  std::multimap<std::size_t, Kind> by_size;  // of equal sizes, in the order of the plan
  std::vector<Step> collectives;
  for (const Kind test : plan.tests) {
    for (const std::size_t bytes : sizes_for(plan, test)) {
      if (point_to_point(test)) {
        by_size.emplace(bytes, test);
      } else {
        collectives.push_back({bytes, test});
      }
    }
  }
  std::vector<Step> steps;
  steps.reserve(by_size.size() + collectives.size());
  for (const auto& [bytes, test] : by_size) {
    steps.push_back({bytes, test});
  }
  steps.insert(steps.end(), collectives.begin(), collectives.end());
  return steps;
}

void run(const Plan& plan, MPI_Comm comm, Results& results,
         const std::function<void(const Progress&)>& on_point) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const std::vector<Step> steps = steps_of(plan);
  std::size_t largest = 0;
  for (const Step& step : steps) {
    largest = std::max(largest, buffer_bytes(step.test, step.bytes, ranks));
  }
  const Buffers buffers(largest, plan.offset);
  int done = 0;
  for (const Step& step : steps) {
    const Team team{comm, rank, team_size(step.test, ranks)};
    ++done;
    if (rank >= team.size || team.size < 2) {
      continue;
    }
    const Point point = run(step.test, team, step.bytes, buffers, plan.budget);
    if (rank == 0) {
      series_of(results, std::string(name(step.test)), team.size).points.push_back(point);
      on_point({step.test, &point, done, static_cast<int>(steps.size())});
    }
  }
}

double slowest(MPI_Comm comm, double milliseconds) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (rank != 0) {
    MPI_Send(&milliseconds, 1, MPI_DOUBLE, 0, report_tag, comm);
    return milliseconds;
  }
  for (int peer = 1; peer < ranks; ++peer) {
    double other = 0;
    MPI_Recv(&other, 1, MPI_DOUBLE, peer, report_tag, comm, MPI_STATUS_IGNORE);
    milliseconds = std::max(milliseconds, other);
  }
  return milliseconds;
}

void describe_library(Results& results) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text);
  version = version.substr(0, version.find('\n'));
  std::replace(version.begin(), version.end(), '\t', ' ');
  results.library = version;
}

}  // namespace fulmar::measure
