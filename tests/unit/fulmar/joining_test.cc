// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fulmar/joining/record.h"
#include "fulmar/report/timeline.h"

namespace fulmar::joining {
namespace {

constexpr double us = 1e3;

std::vector<double>& steps(Record& record, Phase phase) {
  return record.ends_ns[static_cast<std::size_t>(phase)];
}

/// 10 steps of 1 us, a rank that joins within `gap_us` and two steps more, 3 together of 5 us, one that takes 20 us while
/// it leaves, and 10 steps afterwards.
Record joining_with(double gap_us) {
  Record record;
  record.begin_ns = 1e9;
  double now = record.begin_ns;
  const auto step = [&](Phase phase, double microseconds, int count) {
    for (int i = 0; i < count; ++i) steps(record, phase).push_back(now += microseconds * us);
  };
  step(Phase::before, 1, 10);
  step(Phase::joining, gap_us, 1);
  step(Phase::joining, 1, 1);
  step(Phase::together, 5, 3);
  step(Phase::leaving, 20, 1);
  step(Phase::after, 1, 10);
  return record;
}

double value_of(const std::vector<measure::Series>& all, const std::string& test) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const measure::Series& at) { return at.test == test; });
  return found == all.end() ? -1 : found->points.front().median_ns;
}

TEST(Joining, gaps_belong_to_what_caused_them) {
  const auto all = series_of({joining_with(100)});
  EXPECT_EQ(value_of(all, "step-before"), 1 * us);
  EXPECT_EQ(value_of(all, "gap-before"), 1 * us);
  EXPECT_EQ(value_of(all, "gap-joining"), 100 * us);
  EXPECT_EQ(value_of(all, "joining"), 106 * us);
  EXPECT_EQ(value_of(all, "step-together"), 5 * us);
  EXPECT_EQ(value_of(all, "gap-leaving"), 20 * us);
  EXPECT_EQ(value_of(all, "leaving"), 20 * us);
  EXPECT_EQ(value_of(all, "step-after"), 1 * us);
}

TEST(Joining, the_first_step_together_is_part_of_joining) {
  Record record = joining_with(2);
  for (double& end : steps(record, Phase::together)) end += 50 * us;
  for (const Phase later : {Phase::leaving, Phase::after}) {
    for (double& end : steps(record, later)) end += 50 * us;
  }
  EXPECT_EQ(value_of(series_of({record}), "gap-joining"), 55 * us);
}

/// A ring of more ranks than cores: each third step waits for a core.
TEST(Joining, a_step_is_the_median_of_batches) {
  Record record = joining_with(2);
  auto& together = steps(record, Phase::together);
  double now = record.end_of(Phase::joining);
  together.clear();
  for (int i = 0; i < 192; ++i) together.push_back(now += (i % 3 == 0 ? 7 : 1) * us);
  EXPECT_NEAR(value_of(series_of({record}), "step-together"), 3 * us, 0.1 * us);
}

TEST(Joining, figures_are_medians_over_all_times) {
  const std::vector<Record> records{joining_with(30), joining_with(900), joining_with(100)};
  EXPECT_EQ(value_of(series_of(records), "gap-joining"), 100 * us);
  EXPECT_EQ(&middle_of(records), &records[2]);
}

TEST(Timeline, begins_with_the_joining_and_keeps_the_longest_steps) {
  const measure::Timeline timeline = timeline_of(joining_with(100));
  ASSERT_EQ(timeline.phases.size(), 2U);
  EXPECT_EQ(timeline.phases[0].begin_ms, 0);
  EXPECT_NEAR(timeline.phases[0].end_ms, 0.106, 1e-9);
  EXPECT_NEAR(timeline.phases[1].end_ms - timeline.phases[1].begin_ms, 0.020, 1e-9);
  EXPECT_LT(timeline.longest.front().end_ms, 0);
  const auto longest = std::max_element(
      timeline.longest.begin(), timeline.longest.end(),
      [](const auto& a, const auto& b) { return a.microseconds < b.microseconds; });
  EXPECT_NEAR(longest->microseconds, 100, 1e-9);
  EXPECT_NEAR(longest->end_ms, 0.1, 1e-9);
}

TEST(Timeline, many_steps_become_few) {
  Record record = joining_with(2);
  auto& after = steps(record, Phase::after);
  for (int i = 0; i < 100000; ++i) after.push_back(after.back() + us);
  EXPECT_LT(timeline_of(record).longest.size(), 450U);
}

/// Where joining takes so long that all that was before it is shorter than a bin.
TEST(Timeline, phases_do_not_hide_each_other) {
  const measure::Timeline timeline = timeline_of(joining_with(1e6));
  ASSERT_GE(timeline.longest.size(), 5U);
  EXPECT_LT(timeline.longest.front().end_ms, 0);
  EXPECT_NEAR(timeline.longest.front().microseconds, 1, 1e-6);
  EXPECT_GT(timeline.longest.back().end_ms, timeline.phases[1].end_ms);
}

TEST(Timeline, is_drawn_with_its_phases) {
  const std::string picture = report::svg(timeline_of(joining_with(100)), "a title", "s1");
  EXPECT_NE(picture.find("<title>joins: 0.106 ms</title>"), std::string::npos) << picture;
  EXPECT_NE(picture.find("class='curve thin s1'"), std::string::npos);
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_EQ(report::svg(measure::Timeline{}, "", "s0"), "");
}

}  // namespace
}  // namespace fulmar::joining
