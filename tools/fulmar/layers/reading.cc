// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/reading.h"

#include <algorithm>
#include <utility>
#include <vector>

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

namespace {

/// A figure of each round that has it; of given results, their own, as if many rounds agreed.
template <class Figure>
std::optional<Value> value_of(const Sample* sample, Figure figure) {
  if (sample == nullptr) return std::nullopt;
  if (sample->rounds.empty()) {
    const std::optional<double> given = figure(*sample);
    return given ? std::optional(Value{*given, *given, *given, least_rounds}) : std::nullopt;
  }
  std::vector<double> found;
  for (const measure::Results& round : sample->rounds) {
    if (const std::optional<double> at = figure(round)) found.push_back(*at);
  }
  return found.empty() ? std::nullopt : std::optional(Value::of(std::move(found)));
}

const measure::Point* point_of(const measure::Results& results, const char* test, std::size_t bytes,
                               Curve::Team team = Curve::Team::smallest) {
  const measure::Point* at = measure::find_point(series_of_team(results, test, team), bytes);
  return at == nullptr || at->median_ns <= 0 ? nullptr : at;
}

}  // namespace

Reading::Reading(const Measured& measured, const std::string& name) {
  const auto found = measured.find(name);
  if (found != measured.end()) {
    sample_ = &found->second;
  }
}

const measure::Series* Reading::series(const char* test) const {
  return sample_ == nullptr ? nullptr : measure::find_series(*sample_, test);
}

std::vector<const measure::Results*> Reading::rounds() const {
  std::vector<const measure::Results*> all;
  if (sample_ == nullptr) return all;
  for (const measure::Results& round : sample_->rounds) all.push_back(&round);
  if (all.empty()) all.push_back(sample_);
  return all;
}

bool Reading::is_measured_enough() const {
  return sample_ != nullptr && (sample_->rounds.empty() || sample_->rounds.size() >= least_rounds);
}

std::optional<Value> Reading::microseconds(std::size_t bytes, const char* test,
                                           Curve::Team team) const {
  return value_of(sample_, [&](const measure::Results& round) -> std::optional<double> {
    constexpr double thousand = 1000;
    const measure::Point* at = point_of(round, test, bytes, team);
    return at == nullptr ? std::nullopt : std::optional(at->median_ns / thousand);
  });
}

std::optional<Value> Reading::megabytes(std::size_t bytes, const char* test) const {
  return value_of(sample_, [&](const measure::Results& round) -> std::optional<double> {
    const measure::Point* at = point_of(round, test, bytes);
    return at == nullptr ? std::nullopt : std::optional(measure::megabytes_per_second(*at));
  });
}

std::optional<Value> Reading::peak(std::size_t least, std::size_t most, const char* test) const {
  return value_of(sample_, [&](const measure::Results& round) -> std::optional<double> {
    std::optional<double> best;
    const measure::Series* series = measure::find_series(round, test);
    if (series == nullptr) return best;
    for (const measure::Point& at : series->points) {
      if (at.bytes >= least && at.bytes <= most && at.median_ns > 0) {
        best = std::max(best.value_or(0), measure::megabytes_per_second(at));
      }
    }
    return best;
  });
}

std::optional<double> Reading::count(const char* name, std::size_t bytes) const {
  const measure::Count* at =
      sample_ == nullptr ? nullptr : measure::find_count(*sample_, name, bytes);
  return at == nullptr ? std::nullopt : std::optional(at->per_message);
}

}  // namespace fulmar::layers
