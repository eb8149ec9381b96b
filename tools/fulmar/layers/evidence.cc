// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/evidence.h"

#include <fmt/format.h>

#include "fulmar/report/chart.h"

namespace fulmar::layers {

namespace {

/// Whether what is known of its spread is enough to say that something is not there.
bool is_sharp(const Value& value, double factor) { return value.most <= factor * value.least; }

bool is_known(const Value& value) { return value.rounds >= least_rounds; }

}  // namespace

Value Value::of(std::vector<double> rounds) {
  constexpr std::size_t enough_to_trim = 5;
  std::sort(rounds.begin(), rounds.end());
  const std::size_t count = rounds.size();
  const std::size_t half = count / 2;
  const std::size_t cut = count >= enough_to_trim ? 1 : 0;
  const double middle = count % 2 == 1 ? rounds[half] : (rounds[half - 1] + rounds[half]) / 2;
  return {middle, rounds[cut], rounds[count - 1 - cut], count};
}

Truth is_less(const Value& a, const Value& b, double factor) {
  if (!is_known(a) || !is_known(b)) return Truth::undecided;
  if (a.most < b.least && a.middle * factor < b.middle) return Truth::yes;
  const bool is_more = b.most < a.least;
  const bool is_same = a.middle * factor >= b.middle && is_sharp(a, factor) && is_sharp(b, factor);
  return is_more || is_same ? Truth::no : Truth::undecided;
}

Truth is_near(const Value& a, const Value& b, double factor) {
  if (!is_known(a) || !is_known(b)) return Truth::undecided;
  if (a.most < factor * b.least && b.most < factor * a.least) return Truth::yes;
  const bool is_apart = a.least > factor * b.most || b.least > factor * a.most;
  return is_apart ? Truth::no : Truth::undecided;
}

Value ratio_of(const Value& a, const Value& b) {
  return {a.middle / b.middle, a.least / b.most, a.most / b.least, std::min(a.rounds, b.rounds)};
}

std::string short_number(const Value& value) {
  const std::string middle = report::short_number(value.middle);
  if (value.rounds < 2 || value.most <= value.least || value.middle <= 0) return middle;
  constexpr double percent = 100;
  const double half = percent * (value.most - value.least) / 2 / value.middle;
  if (half < 1) return middle;
  return half < percent ? fmt::format("{} ± {:.0f} %", middle, half)
                        : fmt::format("{} ({} to {})", middle, report::short_number(value.least),
                                      report::short_number(value.most));
}

}  // namespace fulmar::layers
