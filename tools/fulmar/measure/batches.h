// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "fulmar/measure/results.h"

namespace fulmar::measure {

/// How one point is measured.
///
/// Operations are timed in batches, because the clock costs as much as a small message. The number
/// of operations in a batch doubles until a batch lasts `batch_ns`; then batches are run until
/// three quarters of `point_ns` are used up, or a few more. The median over batches is the result:
/// a batch that the machine disturbed is one outlier among many.
///
/// With `first_calls` that many operations are timed as one batch instead, after `warm_up` others: what a
/// program with few calls of each kind gets.
struct Budget {
  static constexpr int warm_up = 10;
  double batch_ns = 50e3;
  double point_ns = 150e6;
  int least_batches = 9;
  int most_batches = 4001;
  int first_calls = 0;
};

/// Gives every process of a test the first one's value.
using Agree = std::function<int(int)>;
/// Carries out that number of rounds.
using Batch = std::function<void(int)>;

/// Monotonic time in nanoseconds.
using Clock = std::function<double()>;
/// The machine's.
double now_ns();

/// Measures one point; called by every process that takes part. A round is `operations_per_round`
/// operations. The result is valid on the process whose value `agree` hands out.
Point measure(const Agree& agree, std::size_t bytes, double operations_per_round,
              const Budget& budget, const Batch& batch, const Clock& clock = now_ns);

}  // namespace fulmar::measure
