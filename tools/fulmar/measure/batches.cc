// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/batches.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace fulmar::measure {

namespace {

double timed(const Batch& batch, int count, const Clock& clock) {
  const double start = clock();
  batch(count);
  return clock() - start;
}

/// What reading the clock twice adds to a measured interval.
double overhead_of(const Clock& clock) {
  constexpr int samples = 2000;
  double least = 1e9;
  for (int i = 0; i < samples; ++i) {
    const double start = clock();
    least = std::min(least, clock() - start);
  }
  return least;
}

int rounds_per_batch(const Agree& agree, const Budget& budget, const Batch& batch,
                     const Clock& clock) {
  constexpr int most_rounds = 1 << 20;
  int count = 1;
  batch(count);
  while (true) {
    const double elapsed = timed(batch, count, clock);
    const bool enough = elapsed >= budget.batch_ns || count >= most_rounds;
    const int next = agree(enough ? 0 : count * 2);
    if (next == 0) {
      return count;
    }
    count = next;
  }
}

Point summarise(std::size_t bytes, std::vector<double>& samples, double operations_per_sample) {
  std::sort(samples.begin(), samples.end());
  const std::size_t count = samples.size();
  Point point;
  point.bytes = bytes;
  point.median_ns = samples[count / 2];
  point.low_ns = samples[count / 10];
  point.high_ns = samples[count * 9 / 10];
  point.batches = static_cast<std::uint32_t>(count);
  point.operations = static_cast<std::uint64_t>(static_cast<double>(count) * operations_per_sample);
  return point;
}

}  // namespace

double now_ns() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since_start).count();
}

Point measure(const Agree& agree, std::size_t bytes, double operations_per_round,
              const Budget& budget, const Batch& batch, const Clock& clock) {
  if (budget.first_calls > 0) {
    batch(Budget::warm_up);
    const double operations = operations_per_round * budget.first_calls;
    std::vector<double> once{timed(batch, budget.first_calls, clock) / operations};
    return summarise(bytes, once, operations);
  }
  const int count = rounds_per_batch(agree, budget, batch, clock);
  const double probe = std::max(timed(batch, count, clock), 1.0);
  const double overhead = overhead_of(clock);
  const double operations = operations_per_round * count;
  std::vector<double> samples;
  double left = budget.point_ns;
  int batches = agree(static_cast<int>(
      std::clamp<double>(left / probe, budget.least_batches, budget.most_batches)));
  while (batches != 0) {
    const double before = left;
    for (int i = 0; i < batches; ++i) {
      const double took = timed(batch, count, clock);
      left -= took;
      samples.push_back(std::max(took - overhead, 0.0) / operations);
    }
    // The probe may have been disturbed: then most of the time is left.
    const double more = left < budget.point_ns / 4 ? 0 : left / ((before - left) / batches);
    const double room = budget.most_batches - static_cast<double>(samples.size());
    batches = agree(static_cast<int>(std::clamp(more, 0.0, std::max(room, 0.0))));
  }
  return summarise(bytes, samples, operations);
}

}  // namespace fulmar::measure
