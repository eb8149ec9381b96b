// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <string>

#include "fulmar/layers/page.h"
#include "fulmar/layers/study.h"
#include "fulmar/layers/verdicts.h"

namespace fulmar::layers {
namespace {

/// One setting, in µs.
struct Seen {
  double gap = 3000;
  double joining = 20000;
  double after = 0.2;
};

measure::Results results_of(const Seen& seen) {
  measure::Results results;
  const auto add = [&](const char* test, double us, int ranks = 2) {
    constexpr double ns = 1e3;
    series_of(results, test, ranks).points = {{8, us * ns, us * ns, us * ns, 5, 5}};
  };
  add("step-before", 0.2);
  add("gap-before", 90);
  add("gap-joining", seen.gap);
  add("joining", seen.joining);
  add("step-together", 5, 3);
  add("gap-leaving", 100);
  add("leaving", 200);
  add("step-after", seen.after);
  return results;
}

Measured joining(const Seen& node, const Seen& tcp) {
  Measured measured;
  measured["join-beside"] = results_of(node);
  measured["join-beside-tcp"] = results_of(tcp);
  return measured;
}

TEST(JoiningVerdict, an_exchange_that_goes_on_holds) {
  Measured measured = joining({}, {});
  EXPECT_EQ(judge_joining(measured).outcome, Outcome::holds);
  EXPECT_NE(
      judge_joining(measured).here.find(
          "Tcp: it joins in 20000 µs, in which the longest step of the two takes 3000, and leaves "
          "in 200, longest step 100; a step takes 0.2 µs before and 0.2 afterwards."),
      std::string::npos)
      << judge_joining(measured).here;
  EXPECT_EQ(judge_joining(measured).here.find("themselves"), std::string::npos);
  measured["join-between"] = results_of({6000, 6100});
  EXPECT_NE(judge_joining(measured).here.find("themselves, they stop for 6000 µs."),
            std::string::npos);
}

TEST(JoiningVerdict, one_that_stops_until_the_rank_has_joined_differs) {
  EXPECT_EQ(judge_joining(joining({20000, 20000}, {})).outcome, Outcome::differs);
  EXPECT_EQ(judge_joining(joining({}, {20000, 20000})).outcome, Outcome::differs);
}

TEST(JoiningVerdict, one_that_is_slower_afterwards_differs) {
  EXPECT_EQ(judge_joining(joining({3000, 20000, 0.4}, {})).outcome, Outcome::differs);
}

TEST(JoiningVerdict, needs_both_networks) {
  Measured measured = joining({}, {});
  measured.erase("join-beside-tcp");
  EXPECT_EQ(judge_joining(measured).outcome, Outcome::unknown);
}

TEST(LayersPage, draws_the_steps_of_an_exchange_over_time) {
  Measured measured = joining({}, {});
  EXPECT_EQ(page(measured).find("rect class='phase'"), std::string::npos);
  EXPECT_NE(page(measured).find("longest, joining"), std::string::npos);
  measured["join-beside"].timelines = {{{{"joins", 0, 2}}, {{-1, 0.2}, {1, 3000}, {3, 0.2}}}};
  EXPECT_NE(page(measured).find("rect class='phase'"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::layers
