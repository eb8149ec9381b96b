// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fulmar/measure/results.h"

namespace fulmar::joining {

/// The parts of one joining, in their order.
enum class Phase : std::uint8_t { before, joining, together, leaving, after };
inline constexpr std::size_t phases = 5;

/// When each step of the exchange ended, on rank 0.
struct Record {
  double begin_ns = 0;
  std::array<std::vector<double>, phases> ends_ns;

  [[nodiscard]] const std::vector<double>& of(Phase phase) const {
    return ends_ns[static_cast<std::size_t>(phase)];
  }
  /// When a phase ended: with its last step.
  [[nodiscard]] double end_of(Phase phase) const { return of(phase).back(); }
};

/// What a record comes to, in ns.
struct Figures {
  /// Of a step: the median over batches, as a ring of more ranks than cores has short steps between long ones.
  std::array<double, phases> step{};
  /// The longest step. What the first step together takes is part of joining, and the first one afterwards of leaving.
  std::array<double, phases> gap{};
  double joining = 0;  ///< from the last step without it to the first one with it
  double leaving = 0;  ///< from its last step until its connections have gone
};
[[nodiscard]] Figures figures_of(const Record& record);

/// The series of several records: medians over them, with the least and the greatest. At least one.
[[nodiscard]] std::vector<measure::Series> series_of(const std::vector<Record>& records);

/// The steps over time, from when the joining began; the longest of each bin. No bin holds steps of two
/// phases.
[[nodiscard]] measure::Timeline timeline_of(const Record& record);

/// The record whose gap while joining is the median. At least one.
[[nodiscard]] const Record& middle_of(const std::vector<Record>& records);

}  // namespace fulmar::joining
