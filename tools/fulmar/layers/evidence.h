// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "fulmar/layers/study.h"

/// What verdicts rest on. A setting is measured in several rounds between those of the others, and what its rounds
/// are apart bounds what can be said of it: a difference that is smaller is no finding.
namespace fulmar::layers {

/// A figure over the rounds.
struct Value {
  double middle = 0;
  double least = 0;  ///< of the rounds; of five or more without the lowest and the highest
  double most = 0;
  std::size_t rounds = 0;

  [[nodiscard]] static Value of(std::vector<double> rounds);
};

enum class Truth : std::uint8_t { no, undecided, yes };

/// So few rounds say nothing about their spread.
inline constexpr std::size_t least_rounds = 3;
/// What is as near as this counts as the same, whatever the spread: a factor.
inline constexpr double noise = 1.03;

/// Whether `a` is below `b` by more than `factor`. No, where it is not and the spread could not hide that.
[[nodiscard]] Truth is_less(const Value& a, const Value& b, double factor = noise);
/// Whether they are at most a factor apart.
[[nodiscard]] Truth is_near(const Value& a, const Value& b, double factor);

[[nodiscard]] inline Value operator*(const Value& value, double factor) {
  return {factor * value.middle, factor * value.least, factor * value.most, value.rounds};
}
/// Of two figures that were measured apart from each other.
[[nodiscard]] Value ratio_of(const Value& a, const Value& b);

[[nodiscard]] constexpr Truth truth_of(bool is_so) { return is_so ? Truth::yes : Truth::no; }
[[nodiscard]] constexpr Truth negated(Truth truth) {
  return truth == Truth::yes ? Truth::no : truth == Truth::no ? Truth::yes : Truth::undecided;
}
/// What all parts of a sentence come to: one that is wrong makes it wrong.
[[nodiscard]] inline Truth all_of(std::initializer_list<Truth> parts) { return std::min(parts); }

[[nodiscard]] inline Outcome outcome_of(bool holds) {
  return holds ? Outcome::holds : Outcome::differs;
}
/// Of what was measured.
[[nodiscard]] constexpr Truth truth_of(Outcome outcome) {
  return outcome == Outcome::holds     ? Truth::yes
         : outcome == Outcome::differs ? Truth::no
                                       : Truth::undecided;
}
[[nodiscard]] constexpr Outcome outcome_of(Truth holds) {
  return holds == Truth::yes  ? Outcome::holds
         : holds == Truth::no ? Outcome::differs
                              : Outcome::undecided;
}

/// Three digits, and half of the spread in percent where there are several rounds: "7.4 ± 2 %", or its bounds where that is
/// more than the figure itself.
[[nodiscard]] std::string short_number(const Value& value);

}  // namespace fulmar::layers
