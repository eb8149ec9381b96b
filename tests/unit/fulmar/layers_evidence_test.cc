// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fulmar/layers/applications.h"
#include "fulmar/layers/experiments.h"
#include "fulmar/layers/page.h"
#include "fulmar/layers/probe.h"
#include "fulmar/layers/verdicts.h"
#include "fulmar/report/chart.h"

namespace fulmar::layers {
namespace {

measure::Results latency(double ns) {
  measure::Results results;
  series_of(results, "latency", 2).points.push_back({8, ns, ns, ns, 1, 1});
  return results;
}

Sample sample(const std::vector<double>& rounds_ns) {
  Sample made(latency(Value::of(rounds_ns).middle));
  for (const double ns : rounds_ns) made.rounds.push_back(latency(ns));
  return made;
}

TEST(Value, of_five_rounds_leaves_out_the_lowest_and_the_highest) {
  const Value four = Value::of({4, 1, 3, 2});
  EXPECT_EQ(four.middle, 2.5);
  EXPECT_EQ(four.least, 1);
  EXPECT_EQ(four.most, 4);
  const Value five = Value::of({900, 2, 3, 4, 0.1});
  EXPECT_EQ(five.middle, 3);
  EXPECT_EQ(five.least, 2);
  EXPECT_EQ(five.most, 4);
}

TEST(Value, says_its_spread) {
  EXPECT_EQ(short_number(Value::of({7.4, 7.4, 7.4})), "7.4");
  EXPECT_EQ(short_number(Value::of({7, 7.4, 8})), "7.4 ± 7 %");
  EXPECT_EQ(short_number(Value::of({7, 7.4, 800})), "7.4 (7 to 800)");
}

TEST(Truth, of_a_difference_within_the_spread_is_undecided) {
  const Value quiet = Value::of({100, 101, 102});
  const Value ahead = Value::of({80, 82, 84});
  const Value noisy = Value::of({70, 95, 240});
  EXPECT_EQ(is_less(ahead, quiet), Truth::yes);
  EXPECT_EQ(is_less(quiet, ahead), Truth::no);
  EXPECT_EQ(is_less(noisy, quiet), Truth::undecided);
  EXPECT_EQ(is_less(quiet, noisy), Truth::undecided);
  EXPECT_EQ(is_less(quiet, quiet), Truth::no);
  EXPECT_EQ(is_near(quiet, ahead, 1.5), Truth::yes);
  EXPECT_EQ(is_near(quiet, ahead, 1.1), Truth::no);
  EXPECT_EQ(is_near(quiet, noisy, 1.1), Truth::undecided);
}

TEST(Truth, needs_three_rounds) {
  const Value few = Value::of({10, 10});
  const Value many = Value::of({90, 90, 90});
  EXPECT_EQ(is_less(few, many), Truth::undecided);
  EXPECT_EQ(is_near(few, few, 2), Truth::undecided);
}

TEST(Truth, of_several_parts_is_that_of_the_weakest) {
  EXPECT_EQ(all_of({Truth::yes, Truth::undecided}), Truth::undecided);
  EXPECT_EQ(all_of({Truth::undecided, Truth::no, Truth::yes}), Truth::no);
  EXPECT_EQ(negated(Truth::undecided), Truth::undecided);
}

/// Two settings that are the same code were 2.4 times apart on a busy machine.
TEST(Verdicts, of_a_busy_machine_are_undecided) {
  Measured measured;
  measured["basic"] = sample({5000, 12000, 5100});
  measured["piggyback"] = sample({4900, 5000, 11000});
  EXPECT_EQ(judge_piggyback(measured).outcome, Outcome::undecided);
  EXPECT_NE(judge_piggyback(measured).here.find("5.1 ± 69 %"), std::string::npos)
      << judge_piggyback(measured).here;
  measured["basic"] = sample({18600, 19000, 18000});
  EXPECT_EQ(judge_piggyback(measured).outcome, Outcome::holds);
  measured["basic"] = sample({1000, 1010, 1005});
  EXPECT_EQ(judge_piggyback(measured).outcome, Outcome::differs);
  const std::string html = page(measured);
  EXPECT_NE(html.find("class='band'"), std::string::npos);
  EXPECT_NE(html.find("class='mark'"), std::string::npos);
  EXPECT_NE(html.find("18.6"), std::string::npos);
}

TEST(Rounds, beside_other_work_are_left_out_while_three_remain) {
  const auto kept = [](const std::vector<double>& probes) {
    std::vector<Round> rounds;
    for (const double probe : probes) rounds.push_back({latency(probe), probe});
    std::vector<double> found;
    for (const measure::Results& each : quiet_rounds(rounds, 100)) {
      found.push_back(each.series.front().points.front().median_ns);
    }
    return found;
  };
  EXPECT_EQ(kept({60, 500, 61, 62}), (std::vector<double>{60, 61, 62}));
  EXPECT_EQ(kept({60, 500, 61, 400, 700}), (std::vector<double>{60, 61, 400}));
  EXPECT_EQ(kept({500, 400}), (std::vector<double>{500, 400}));
  EXPECT_TRUE(kept({}).empty());
}

TEST(Probes, have_a_quiet_quarter_and_bounds) {
  const Probes probes = probes_of({300, 60, 70});
  EXPECT_EQ(probes.quiet_ns, 60);
  EXPECT_EQ(probes.least_ns, 60);
  EXPECT_EQ(probes.most_ns, 300);
  EXPECT_EQ(probes.limit_ns(), 120);
  EXPECT_EQ(probes_of({}).count, 0U);
}

/// Each figure and table of a paper is drawn, or has a reason.
TEST(Experiments, name_figures_that_there_are_or_say_why_not) {
  const std::vector<Figure> all = figures();
  std::size_t drawn = 0;
  for (const Experiment& each : experiments()) {
    EXPECT_NE(each.drawn.empty(), each.reason.empty()) << each.paper << ", " << each.where;
    std::string titles = each.drawn;
    while (!titles.empty()) {
      const std::size_t end = std::min(titles.find("; "), titles.size());
      const std::string title = titles.substr(0, end);
      titles.erase(0, std::min(end + 2, titles.size()));
      ++drawn;
      EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Figure& at) {
        return at.title == title;
      })) << title;
    }
  }
  EXPECT_GT(drawn, 40U);
}

TEST(Summary, says_how_it_was_measured_and_what_is_missing) {
  Circumstances at;
  at.command = "fulmar bench layers --rounds 5";
  at.rounds = 5;
  at.ranks = 4;
  at.cores = 2;
  at.probes = probes_of({60, 61, 62});
  at.left_out = {"failed: basic FULMAR_CHANNEL=basic"};
  Measured measured;
  measured["basic"] = sample({1, 2, 3});
  for (const std::string& text : {summary(measured, {}, at), page(measured, {}, at)}) {
    for (const char* wanted :
         {"fulmar bench layers --rounds 5", "4 ranks, more than cores: oversubscribed",
          "60 ns or less in a quarter of 3 probes", "failed: basic FULMAR_CHANNEL=basic",
          "figures 1 to 6", "Not measured"}) {
      EXPECT_NE(text.find(wanted), std::string::npos) << wanted;
    }
  }
}

TEST(LayersPage, says_why_programs_were_not_measured) {
  const std::string card = "of the NAS Parallel Benchmarks in the three stacks</h2>";
  EXPECT_EQ(page({}).find(card), std::string::npos);
  Circumstances circumstances;
  circumstances.no_applications = ApplicationFolder{}.lacking();
  const std::string html = page({}, {}, circumstances);
  EXPECT_NE(html.find(card), std::string::npos);
  EXPECT_NE(html.find("--nas names the folder"), std::string::npos);
}

TEST(LayersPage, draws_no_figure_of_nothing) {
  EXPECT_EQ(page({}).find("<svg"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::layers
