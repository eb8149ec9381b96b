// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>

#include "fulmar/report/chart.h"

namespace fulmar::trace {

inline constexpr double ns_per_us = 1000;

[[nodiscard]] inline double microseconds(std::uint64_t ns) {
  return static_cast<double>(ns) / ns_per_us;
}

/// Microseconds of each of `count`; empty where there are none.
[[nodiscard]] inline std::string us_of_each(std::uint64_t ns, std::uint64_t count) {
  return count == 0 ? "" : report::short_number(microseconds(ns) / static_cast<double>(count));
}

}  // namespace fulmar::trace
