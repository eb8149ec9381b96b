// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "fulmar/layers/papers.h"
#include "fulmar/layers/reading.h"
#include "fulmar/layers/verdicts.h"
#include "fulmar/report/chart.h"

/// A rank that joins a running exchange and leaves it, which the paper about Open MPI on Elan4 made
/// possible: the settings, the figure and whether the exchange goes on.
namespace fulmar::layers {

namespace {

/// The rows of the figure by their tests (fulmar/joining/record.h).
constexpr std::pair<const char*, const char*> rows[] = {
    {"step-before", "step of two, before"}, {"gap-before", "longest, before"},
    {"gap-joining", "longest, joining"},    {"joining", "joining takes"},
    {"step-together", "step of three"},     {"gap-leaving", "longest, leaving"},
    {"leaving", "leaving takes"},           {"step-after", "step of two, after"}};

constexpr const char* between = "join-between";
constexpr const char* beside = "join-beside";
constexpr const char* beside_tcp = "join-beside-tcp";

Setting joining(const char* name, const char* label, Run::Joins joins,
                std::vector<std::pair<std::string, std::string>> environment) {
  Run run{{}, {8}};
  for (const auto& [test, label_of_row] : rows) run.tests.emplace_back(test);
  run.joins = joins;
  return {name, label, std::move(environment), {run}};
}

/// What one setting shows.
struct Seen {
  Value gap;
  Value joining;
  Value leaving_gap;
  Value leaving;
  Value before;
  Value after;
};

std::optional<Seen> seen_of(const Measured& measured, const char* setting) {
  const Reading reading(measured, setting);
  const auto of = [&](const char* test) { return reading.microseconds(8, test); };
  const auto gap = of("gap-joining");
  const auto joining = of("joining");
  const auto leaving_gap = of("gap-leaving");
  const auto leaving = of("leaving");
  const auto before = of("step-before");
  const auto after = of("step-after");
  if (!gap || !joining || !leaving_gap || !leaving || !before || !after) return std::nullopt;
  return Seen{*gap, *joining, *leaving_gap, *leaving, *before, *after};
}

/// The others' exchange goes on meanwhile, and is afterwards what it was.
Truth goes_on(const Seen& seen) {
  constexpr double same = 1.25;
  return all_of({is_less(seen.gap, seen.joining), is_near(seen.before, seen.after, same)});
}

std::string told(const char* where, const Seen& seen) {
  return fmt::format(
      "{}: it joins in {} µs, in which the longest step of the two takes {}, and leaves in {}, "
      "longest step {}; a step takes {} µs before and {} afterwards.",
      where, short_number(seen.joining), short_number(seen.gap), short_number(seen.leaving),
      short_number(seen.leaving_gap), short_number(seen.before), short_number(seen.after));
}

}  // namespace

Verdict judge_joining(const Measured& measured) {
  const auto node = seen_of(measured, beside);
  const auto tcp = seen_of(measured, beside_tcp);
  if (!node || !tcp) {
    return not_measured();
  }
  std::string text = told("Shared memory", *node) + " " + told("Tcp", *tcp);
  if (const auto stopped = Reading(measured, between).microseconds(8, "gap-joining")) {
    text += fmt::format(" Where the two call MPI_Comm_spawn themselves, they stop for {} µs.",
                        short_number(*stopped));
  }
  return {outcome_of(all_of({goes_on(*node), goes_on(*tcp)})), text};
}

std::vector<Setting> joining_settings() {
  return {
      joining(between, "called between two steps", Run::Joins::between, {}),
      joining(beside, "by a thread beside", Run::Joins::beside, {}),
      joining(beside_tcp, "by a thread beside, over tcp", Run::Joins::beside,
              {{"FULMAR_FABRIC", "tcp"}}),
  };
}

std::vector<Figure> joining_figures() {
  std::vector<Curve> curves;
  for (const auto& [test, row] : rows) {
    for (const char* setting : {between, beside, beside_tcp}) {
      curves.push_back({setting, test, "", row});
    }
  }
  return {{"A rank joins a running exchange and leaves it",
           in(elan, "sections 2.2 and 4.1, joining and disjoining"),
           "Processes may join the network and leave it at any time, one by one; what those that "
           "communicate see of it is not measured.",
           Form::timeline, 8, curves, judge_joining}};
}

}  // namespace fulmar::layers
