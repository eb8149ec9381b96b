// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fulmar/measure/results.h"
#include "fulmar/measure/tests.h"

namespace fulmar::measure {

/// What to measure in one run.
struct Plan {
  std::vector<Kind> tests;
  std::size_t largest = 4 << 20;   ///< sizes above are left out
  std::vector<std::size_t> sizes;  ///< if not empty, the sizes of every test that has sizes
  std::size_t offset = 0;          ///< of buffers in their first page, in bytes
  Budget budget;
};

/// Told on rank 0 after every point.
struct Progress {
  Kind test;
  const Point* point;
  int done;   ///< points measured so far
  int total;  ///< points of the whole plan
};

/// One (size, test) pair, in the order in which they are measured.
struct Step {
  std::size_t bytes;
  Kind test;
};

/// Point-to-point tests size by size, so that the rows of a table are complete one after the other;
/// then collectives.
std::vector<Step> steps_of(const Plan& plan);

/// Runs the plan; called by every rank of `comm`. Results have their series filled, on rank 0.
void run(const Plan& plan, MPI_Comm comm, Results& results,
         const std::function<void(const Progress&)>& on_point);

/// The longest time over all ranks, on rank 0.
double slowest(MPI_Comm comm, double milliseconds);

/// Fills machine, library version and label from the MPI library itself.
void describe_library(Results& results);

}  // namespace fulmar::measure
