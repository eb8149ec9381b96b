// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fulmar/layers/evidence.h"
#include "fulmar/layers/study.h"

namespace fulmar::layers {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = kib * kib;

inline Verdict not_measured() { return {Outcome::unknown, "Not measured."}; }

/// The series of a test; nullptr if there is none.
const measure::Series* series_of_team(const measure::Results& results, const std::string& test,
                                      Curve::Team team);

/// The figures of a setting that a verdict needs, as far as they were measured. Lives no longer
/// than they do.
class Reading {
 public:
  Reading(const Measured& measured, const std::string& name);

  /// One way.
  [[nodiscard]] std::optional<Value> microseconds(std::size_t bytes, const char* test = "latency",
                                                  Curve::Team team = Curve::Team::smallest) const;
  /// A second.
  [[nodiscard]] std::optional<Value> megabytes(std::size_t bytes,
                                               const char* test = "bandwidth") const;
  /// The best bandwidth of the sizes from `least` to `most`.
  [[nodiscard]] std::optional<Value> peak(std::size_t least, std::size_t most = SIZE_MAX,
                                          const char* test = "bandwidth") const;
  /// A counter for each message.
  [[nodiscard]] std::optional<double> count(const char* name, std::size_t bytes) const;
  /// Each round, or the given figures alone.
  [[nodiscard]] std::vector<const measure::Results*> rounds() const;
  [[nodiscard]] bool is_measured_enough() const;
  /// nullptr if there are none.
  [[nodiscard]] const measure::Series* series(const char* test) const;

 private:
  const Sample* sample_ = nullptr;
};

}  // namespace fulmar::layers
