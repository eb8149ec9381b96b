// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fulmar/layers/study.h"

/// What the lists of figures have in common.
namespace fulmar::layers {

using Form = Figure::Form;

inline constexpr std::size_t short_limit = 4096;
inline constexpr std::size_t long_limit = std::size_t{4} << 20;

inline constexpr const char* mpich2 = "MPICH2 over InfiniBand";
inline constexpr const char* mvapich2 = "Layers of MVAPICH2";
inline constexpr const char* chemnitz = "MPICH2-CH3 device of Chemnitz";
inline constexpr const char* elan = "Open MPI over Quadrics/Elan4";
inline constexpr const char* rwapi = "RWAPI over InfiniBand";

inline std::string in(const char* paper, const char* where) {
  return std::string(paper) + ", " + where;
}

/// One test of several settings.
inline std::vector<Curve> of(const char* test, const std::vector<std::string>& settings) {
  std::vector<Curve> curves;
  for (const std::string& setting : settings) {
    curves.push_back({setting, test});
  }
  return curves;
}

inline std::vector<Figure> joined(const std::vector<std::vector<Figure>>& parts) {
  std::vector<Figure> all;
  for (const auto& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace fulmar::layers
