// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/reading.h"

#include <algorithm>

namespace fulmar::layers {

const measure::Series* series_of_team(const measure::Results& results, const std::string& test,
                                      Curve::Team team) {
  const measure::Series* best = nullptr;
  for (const measure::Series& at : results.series) {
    const bool better = best == nullptr || (team == Curve::Team::largest ? at.ranks > best->ranks
                                                                         : at.ranks < best->ranks);
    if (at.test == test && better) {
      best = &at;
    }
  }
  return best;
}

Reading::Reading(const Measured& measured, const std::string& name) {
  const auto found = measured.find(name);
  if (found != measured.end()) {
    results_ = &found->second;
  }
}

const measure::Series* Reading::series(const char* test) const {
  return results_ == nullptr ? nullptr : measure::find_series(*results_, test);
}

const measure::Point* Reading::point(const char* test, std::size_t bytes, Curve::Team team) const {
  if (results_ == nullptr) {
    return nullptr;
  }
  const measure::Point* at = measure::find_point(series_of_team(*results_, test, team), bytes);
  return at == nullptr || at->median_ns <= 0 ? nullptr : at;
}

std::optional<double> Reading::microseconds(std::size_t bytes, const char* test,
                                            Curve::Team team) const {
  constexpr double thousand = 1000;
  const measure::Point* at = point(test, bytes, team);
  return at == nullptr ? std::nullopt : std::optional(at->median_ns / thousand);
}

std::optional<double> Reading::megabytes(std::size_t bytes, const char* test) const {
  const measure::Point* at = point(test, bytes);
  return at == nullptr ? std::nullopt : std::optional(measure::megabytes_per_second(*at));
}

std::optional<double> Reading::peak(std::size_t least, std::size_t most, const char* test) const {
  std::optional<double> best;
  const measure::Series* points = series(test);
  if (points == nullptr) {
    return best;
  }
  for (const measure::Point& at : points->points) {
    if (at.bytes >= least && at.bytes <= most && at.median_ns > 0) {
      best = std::max(best.value_or(0), measure::megabytes_per_second(at));
    }
  }
  return best;
}

std::optional<double> Reading::count(const char* name, std::size_t bytes) const {
  const measure::Count* at =
      results_ == nullptr ? nullptr : measure::find_count(*results_, name, bytes);
  return at == nullptr ? std::nullopt : std::optional(at->per_message);
}

}  // namespace fulmar::layers
