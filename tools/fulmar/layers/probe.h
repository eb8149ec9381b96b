// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "fulmar/measure/results.h"

/// Whether the machine was quiet while a job ran: a cache line that two threads pass to each other takes longer when
/// something else wants their cores, or their caches.
namespace fulmar::layers {

/// Nanoseconds of a line's way there and back, measured for some ms; 0 where the process may use one core only.
[[nodiscard]] double probe_line_ns();

/// One round of a setting.
struct Round {
  measure::Results results;
  double probe_ns = 0;  ///< the slower one of before and after
};

/// The rounds that count: those whose probe was above `limit_ns` are left out, the slowest first, but three remain where
/// there were three. Keeps the order.
[[nodiscard]] std::vector<measure::Results> quiet_rounds(const std::vector<Round>& rounds,
                                                         double limit_ns);

/// What the probes of a study say.
struct Probes {
  double quiet_ns = 0;  ///< a quarter of them were faster
  double least_ns = 0;
  double most_ns = 0;
  std::size_t count = 0;
  /// Above this something else was running.
  [[nodiscard]] double limit_ns() const { return 2 * quiet_ns; }
};
[[nodiscard]] Probes probes_of(std::vector<double> probes_ns);

}  // namespace fulmar::layers
