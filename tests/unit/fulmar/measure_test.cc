// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fulmar/measure/batches.h"
#include "fulmar/measure/collectives.h"
#include "fulmar/measure/json.h"
#include "fulmar/measure/pairs.h"
#include "fulmar/measure/plan.h"
#include "fulmar/measure/results.h"
#include "fulmar/measure/rings.h"

namespace fulmar::measure {
namespace {

Results sample() {
  Results results;
  results.label = "A & B";
  results.library = "library 1.0";
  results.cores = 2;
  results.init_ms = 3.5;
  results.init_ranks = 4;
  series_of(results, "latency", 2).points = {{8, 100, 90, 120, 5000, 11},
                                             {1024, 300.5, 280, 400, 700, 11}};
  series_of(results, "barrier", 8).points = {{0, 4000, 3900, 4500, 99, 9}};
  series_of(results, "barrier", 4).points = {{0, 2000, 1900, 2500, 99, 9}};
  results.timelines = {{{{"joins", 0, 2.5}}, {{-1, 0.25}, {1.5, 3000}}}};
  return results;
}

TEST(Json, results_survive_a_round_trip) {
  std::string problem;
  const auto back = from_json(to_json(sample()), problem);
  ASSERT_TRUE(back) << problem;
  EXPECT_EQ(to_json(*back), to_json(sample()));
  EXPECT_EQ(back->label, "A & B");
  EXPECT_EQ(find_point(find_series(*back, "latency", 2), 1024)->median_ns, 300.5);
  ASSERT_EQ(back->timelines.size(), 1U);
  EXPECT_EQ(back->timelines[0].phases.at(0).name, "joins");
  EXPECT_EQ(back->timelines[0].longest.at(1).microseconds, 3000);
}

TEST(Json, other_json_is_refused_with_the_reason) {
  std::string problem;
  EXPECT_FALSE(from_json(R"({"format": "something", "version": 1, "series": []})", problem));
  EXPECT_NE(problem.find("fulmar-bench"), std::string::npos);
  EXPECT_FALSE(from_json(R"({"format": "fulmar-bench", "version": 2, "series": []})", problem));
  EXPECT_FALSE(from_json(R"({"format": "fulmar-bench", "version": 1})", problem));
  EXPECT_NE(problem.find("series"), std::string::npos);
}

TEST(Json, text_that_is_cut_off_or_of_wrong_types_is_refused) {
  const std::string whole = to_json(sample());
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
    std::string problem;
    EXPECT_FALSE(from_json(whole.substr(0, length), problem));
    EXPECT_FALSE(problem.empty());
  }
  std::string problem;
  EXPECT_FALSE(from_json(
      R"({"format": "fulmar-bench", "version": 1, "series": [{"test": 5, "points": []}]})",
      problem));
  EXPECT_FALSE(from_json(R"([1, 2])", problem));
}

TEST(Results, series_without_ranks_is_the_one_with_fewest) {
  const Results results = sample();
  EXPECT_EQ(find_series(results, "barrier")->ranks, 4);
  EXPECT_EQ(find_series(results, "barrier", 8)->points[0].median_ns, 4000);
  EXPECT_EQ(find_series(results, "barrier", 2), nullptr);
  EXPECT_EQ(find_point(find_series(results, "bibw"), 8), nullptr);
}

TEST(Results, units_follow_from_time_and_size) {
  const Point point{1000, 500, 0, 0, 0, 0};
  EXPECT_DOUBLE_EQ(megabytes_per_second(point), 2000);
  EXPECT_DOUBLE_EQ(million_per_second(point), 2);
  EXPECT_DOUBLE_EQ(megabytes_per_second(Point{}), 0);
}

TEST(Results, sizes_are_written_in_the_largest_whole_unit) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1000), "1000 B");
  EXPECT_EQ(size_text(1024), "1 KiB");
  EXPECT_EQ(size_text(1536), "1536 B");
  EXPECT_EQ(size_text(4 << 20), "4 MiB");
}

Budget brief() {
  Budget budget;
  budget.batch_ns = 20e3;
  budget.point_ns = 1e6;
  budget.least_batches = 5;
  budget.most_batches = 50;
  return budget;
}

TEST(Measure, batches_grow_until_they_last_long_enough) {
  double now = 0;
  std::vector<int> counts;
  const auto spin = [&](int count) {
    counts.push_back(count);
    now += 1000.0 * count;
  };
  const auto same = [](int value) { return value; };
  const Point point = measure(same, 64, 2, brief(), spin, [&] { return now; });
  EXPECT_EQ(counts.back(), 32);   // the first power of two that lasts 20 us
  EXPECT_EQ(point.batches, 31U);  // of 32 us each in 1 ms
  EXPECT_EQ(counts.size(), 1 + 6 + 1 + point.batches);
  EXPECT_EQ(point.bytes, 64U);
  EXPECT_DOUBLE_EQ(point.low_ns, 500);  // a round is two operations
  EXPECT_DOUBLE_EQ(point.median_ns, 500);
  EXPECT_DOUBLE_EQ(point.high_ns, 500);
  EXPECT_EQ(point.operations, 31U * 32 * 2);
}

TEST(Measure, first_calls_are_timed_once_after_few_others) {
  double now = 0;
  std::vector<int> counts;
  const auto cooling = [&](int count) {
    now += (counts.empty() ? 9000.0 : 1000.0) * count;
    counts.push_back(count);
  };
  const auto never = [](int value) -> int {
    ADD_FAILURE() << "nothing is to be agreed on";
    return value;
  };
  Budget budget = brief();
  budget.first_calls = 100;
  const Point point = measure(never, 64, 2, budget, cooling, [&] { return now; });
  EXPECT_EQ(counts, (std::vector<int>{Budget::warm_up, 100}));
  EXPECT_DOUBLE_EQ(point.median_ns, 500);
  EXPECT_EQ(point.operations, 200U);
  EXPECT_EQ(point.batches, 1U);
}

TEST(Measure, disturbed_batches_and_the_clock_itself_do_not_count) {
  double now = 0;
  int batches = 0;
  const auto spin = [&](int count) { now += 1000.0 * count * (++batches % 5 == 0 ? 40 : 1); };
  const auto clock = [&] { return now += 30; };
  const auto same = [](int value) { return value; };
  const Point point = measure(same, 64, 1, brief(), spin, clock);
  EXPECT_NEAR(point.median_ns, 1000, 1e-6);
  EXPECT_NEAR(point.low_ns, 1000, 1e-6);
  EXPECT_NEAR(point.high_ns, 40000, 1e-6);
}

TEST(Measure, probe_that_was_disturbed_leaves_no_time_unused) {
  double now = 0;
  int calls = 0;
  const auto spin = [&](int count) { now += 1000.0 * count * (++calls == 8 ? 100 : 1); };
  const auto same = [](int value) { return value; };
  Budget budget = brief();
  budget.most_batches = 1000;
  // Calls 1 to 7 find the 32 rounds of a batch, the 8th is the probe: 3.2 ms instead of 32 us.
  EXPECT_EQ(measure(same, 64, 1, budget, spin, [&] { return now; }).batches, 5U + 26U);
}

TEST(Measure, long_and_short_rounds_keep_to_the_bounds) {
  double now = 0;
  const auto same = [](int value) { return value; };
  const auto slow = [&](int count) { now += 1e9 * count; };
  EXPECT_EQ(measure(same, 1, 1, brief(), slow, [&] { return now; }).batches, 5U);
  Budget longer = brief();
  longer.point_ns = 1e9;
  const auto quick = [&](int count) { now += 10.0 * count; };
  EXPECT_EQ(measure(same, 1, 1, longer, quick, [&] { return now; }).batches, 50U);
}

TEST(Measure, all_processes_run_the_same_rounds) {
  std::vector<int> leader;
  std::vector<int> handed_out;
  measure(
      [&](int value) {
        handed_out.push_back(value);
        return value;
      },
      1, 1, brief(), [&](int count) { leader.push_back(count); });
  std::vector<int> follower;
  std::size_t next = 0;
  measure([&](int) { return handed_out.at(next++); }, 1, 1, brief(),
          [&](int count) { follower.push_back(count); });
  EXPECT_EQ(leader, follower);
  EXPECT_EQ(next, handed_out.size());
}

TEST(Collectives, have_a_name_a_layout_and_sizes_that_fit) {
  Plan plan;
  plan.sizes = {0, 8, 20};
  std::set<std::string> names;
  for (const std::string& text : test_names()) {
    EXPECT_TRUE(names.insert(text).second) << text;
    const Kind test = *test_from(text);
    if (point_to_point(test)) continue;
    EXPECT_EQ(name(test), text);
    plan.tests = {test};
    std::vector<std::size_t> sizes;
    for (const Step& step : steps_of(plan)) sizes.push_back(step.bytes);
    const std::vector<std::size_t> expected = is_barrier(test)      ? std::vector<std::size_t>{0}
                                              : is_of_doubles(test) ? std::vector<std::size_t>{8}
                                                                    : plan.sizes;
    EXPECT_EQ(sizes, expected) << text;
  }
  EXPECT_EQ(blocks_of(Kind::ialltoallv, 5), 5U);
  EXPECT_EQ(blocks_of(Kind::reduce_scatterv, 5), 5U);
  EXPECT_EQ(blocks_of(Kind::iallreduce, 5), 1U);
}

TEST(Rings, random_orders_hold_every_rank_once) {
  for (const int size : {2, 3, 7, 16}) {
    for (int number = 0; number < rings_of(Kind::random_ring); ++number) {
      std::vector<int> order = random_order(size, number);
      EXPECT_EQ(order, random_order(size, number));
      std::sort(order.begin(), order.end());
      for (int rank = 0; rank < size; ++rank) {
        EXPECT_EQ(order[static_cast<std::size_t>(rank)], rank);
      }
    }
  }
  EXPECT_NE(random_order(16, 0), random_order(16, 1));
}

TEST(Rings, neighbours_name_each_other) {
  const std::vector<int> order = random_order(7, 3);
  for (int rank = 0; rank < 7; ++rank) {
    EXPECT_EQ(neighbours_in(order, neighbours_in(order, rank).behind).before, rank);
  }
  EXPECT_EQ(neighbours_in({0, 1, 2}, 0).before, 2);
  EXPECT_EQ(neighbours_in({0, 1, 2}, 2).behind, 0);
}

TEST(Pairs, are_all_there_once) {
  EXPECT_EQ(pairs_of(2), (std::vector<std::pair<int, int>>{{0, 1}}));
  const auto pairs = pairs_of(5);
  EXPECT_EQ(pairs.size(), 10U);
  for (const auto& [first, second] : pairs) EXPECT_LT(first, second);
  EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), pairs.size());
}

TEST(Pairs, stand_together_as_mean_fastest_and_slowest) {
  const Point point = over_pairs({{8, 100, 90, 120, 50, 5}, {8, 200, 190, 220, 30, 3}});
  EXPECT_EQ(point.bytes, 8U);
  EXPECT_EQ(point.median_ns, 150);
  EXPECT_EQ(point.low_ns, 100);
  EXPECT_EQ(point.high_ns, 200);
  EXPECT_EQ(point.operations, 80U);
  EXPECT_EQ(point.batches, 8U);
}

TEST(Plan, point_to_point_steps_go_by_size_and_collectives_come_last) {
  Plan plan;
  plan.tests = {Kind::barrier, Kind::latency, Kind::bandwidth};
  plan.largest = 2;
  const auto steps = steps_of(plan);
  ASSERT_EQ(steps.size(), 6U);
  EXPECT_EQ(steps[0].bytes, 0U);
  EXPECT_EQ(steps[1].test, Kind::latency);
  EXPECT_EQ(steps[2].test, Kind::bandwidth);
  EXPECT_EQ(steps[2].bytes, 1U);
  EXPECT_EQ(steps[5].test, Kind::barrier);
}

TEST(Plan, allreduce_takes_whole_doubles_only) {
  Plan plan;
  plan.tests = {Kind::allreduce};
  plan.sizes = {0, 4, 8, 12, 64};
  const auto steps = steps_of(plan);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].bytes, 8U);
  EXPECT_EQ(steps[1].bytes, 64U);
}

TEST(TestNames, go_both_ways) {
  for (const std::string& text : test_names()) {
    ASSERT_TRUE(test_from(text));
    EXPECT_EQ(name(*test_from(text)), text);
  }
  EXPECT_EQ(test_from("reduce_scatter"), Kind::reduce_scatter);
  EXPECT_FALSE(test_from("latencies"));
}

TEST(Plan, buffers_hold_a_block_for_each_rank_or_what_lies_between_elements) {
  EXPECT_EQ(buffer_bytes(Kind::latency, 64, 8), 64U);
  EXPECT_EQ(buffer_bytes(Kind::bcast, 64, 8), 64U);
  EXPECT_EQ(buffer_bytes(Kind::alltoall, 64, 8), 512U);
  EXPECT_EQ(buffer_bytes(Kind::strided, 64, 2), 128U);
  EXPECT_EQ(buffer_bytes(Kind::face_x, 512, 2), 4096U);
}

TEST(Team, rate_takes_an_even_number_of_ranks) {
  EXPECT_EQ(team_size(Kind::rate, 5), 4);
  EXPECT_EQ(team_size(Kind::ring, 5), 5);
  EXPECT_EQ(team_size(Kind::exchange, 5), 2);
  EXPECT_EQ(team_size(Kind::latency, 5), 2);
  EXPECT_EQ(team_size(Kind::barrier, 5), 5);
}

}  // namespace
}  // namespace fulmar::measure
