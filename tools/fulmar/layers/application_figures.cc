// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "fulmar/layers/applications.h"
#include "fulmar/layers/papers.h"
#include "fulmar/layers/reading.h"
#include "fulmar/layers/verdicts.h"

/// The papers' figures of the NAS Parallel Benchmarks, and what becomes of them here.
namespace fulmar::layers {

namespace {

const std::vector<std::string> designs{"pipeline", "zerocopy", "ch3"};

std::string title_of(const Application& application) {
  std::string title = application.name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return title;
}

std::vector<Curve> curves_of(const std::vector<Application>& applications,
                             const std::vector<std::string>& settings) {
  std::vector<Curve> curves;
  for (const Application& application : applications) {
    for (const std::string& setting : settings) {
      curves.push_back({setting, test_of(application), "", title_of(application)});
    }
  }
  return curves;
}

std::optional<Value> seconds(const Measured& measured, const std::string& setting,
                             const Application& application) {
  constexpr double microseconds_a_second = 1e6;
  const auto time = Reading(measured, setting).microseconds(0, test_of(application).c_str());
  return time && time->middle > 0 ? std::optional(*time * (1 / microseconds_a_second))
                                  : std::nullopt;
}

/// The three designs: whether the pipeline is last with each program, and the two others near each other.
Verdict judge(const Measured& measured, const std::vector<Application>& applications) {
  double behind = 0;  // sums of logarithms
  double apart = 0;
  int count = 0;
  Truth holds = Truth::yes;
  std::string text;
  for (const Application& application : applications) {
    const auto pipeline = seconds(measured, "pipeline", application);
    const auto zerocopy = seconds(measured, "zerocopy", application);
    const auto ch3 = seconds(measured, "ch3", application);
    if (!pipeline || !zerocopy || !ch3) {
      continue;
    }
    holds = all_of({holds, is_less(*zerocopy, *pipeline), is_less(*ch3, *pipeline),
                    is_near(*zerocopy, *ch3, noise)});
    behind += std::log(pipeline->middle / zerocopy->middle);
    apart += std::log(ch3->middle / zerocopy->middle);
    text += fmt::format("{}{} {:.2f}, {:.2f}, {:.2f} s", count > 0 ? "; " : "",
                        title_of(application), pipeline->middle, zerocopy->middle, ch3->middle);
    ++count;
  }
  if (count == 0) {
    return not_measured();
  }
  const double slower = std::exp(behind / count);
  const double ratio = std::exp(apart / count);
  return {outcome_of(holds),
          fmt::format("{}: the pipeline takes {:.2f} times as long as zero-copy in the channel, "
                      "CH3 {:.2f} times (geometric means).",
                      text, slower, ratio)};
}

}  // namespace

Verdict judge_few_applications(const Measured& measured) {
  return judge(measured, few_applications());
}

Verdict judge_many_applications(const Measured& measured) {
  return judge(measured, many_applications());
}

Verdict judge_integer_sort(const Measured& measured) {
  const auto channel = seconds(measured, "channel", integer_sort());
  const auto ch3 = seconds(measured, "ch3", integer_sort());
  const auto adi3 = seconds(measured, "adi3", integer_sort());
  if (!channel || !ch3 || !adi3) {
    return not_measured();
  }
  return {outcome_of(all_of({is_less(*ch3, *channel), is_less(*adi3, *channel)})),
          fmt::format("{:.2f} s in the channel, {:.2f} as CH3, {:.2f} as ADI3.", channel->middle,
                      ch3->middle, adi3->middle)};
}

std::vector<Figure> application_figures() {
  const char* found =
      "The pipeline is last in all programs, though not by much; zero-copy in the channel and in "
      "CH3 are within 1 % of each other.";
  return {
      {"NAS Parallel Benchmarks on 4 ranks", in(mpich2, "figure 16"), found, Form::programs, 0,
       curves_of(few_applications(), designs), judge_few_applications},
      {"NAS Parallel Benchmarks on 8 ranks", in(mpich2, "figure 17"), found, Form::programs, 0,
       curves_of(many_applications(), designs), judge_many_applications},
      {"Integer sort of the NAS Parallel Benchmarks in the three stacks", in(mvapich2, "NAS IS"),
       "On 16 nodes CH3 and ADI3 are 7 % ahead of the channel.", Form::programs, 0,
       curves_of({integer_sort()}, {"channel", "ch3", "adi3"}), judge_integer_sort},
  };
}

}  // namespace fulmar::layers
