// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fulmar/layers/jobs.h"
#include "fulmar/layers/study.h"
#include "fulmar/measure/results.h"

namespace fulmar::layers {
namespace {

measure::Results latency(std::size_t bytes, double ns) {
  measure::Results results;
  measure::series_of(results, "latency", 2).points = {{bytes, ns, ns, ns, 1, 1}};
  return results;
}

const Figure& figure_of(const std::vector<Figure>& all, const std::string& title) {
  return *std::find_if(all.begin(), all.end(), [&](const auto& at) { return at.title == title; });
}

TEST(Lengths, a_team_has_as_many_ranks_as_it_says) {
  for (const auto& [team, count] :
       {std::pair{Run::Ranks::two, "2"}, std::pair{Run::Ranks::four, "4"},
        std::pair{Run::Ranks::six, "6"}, std::pair{Run::Ranks::all, "9"}}) {
    const auto words = command_of({{"barrier"}, {8}, team}, {"fulmar", "mpiexec", ""},
                                  {.milliseconds = 1, .largest = 8, .ranks = 9}, "file");
    EXPECT_EQ(words.at(2), count);
  }
}

TEST(Lengths, the_best_of_the_swept_lengths_is_named) {
  Measured measured;
  for (const char* name :
       {"announced-1", "announced-4", "announced-16", "announced-64", "announced-256"}) {
    measured[name] = latency(4096, 900);
    for (const std::size_t bytes : {16384, 65536}) {
      measure::series_of(measured[name], "latency", 2)
          .points.push_back({bytes, 5e3, 5e3, 5e3, 1, 1});
    }
  }
  measure::series_of(measured["announced-16"], "latency", 2).points[0].median_ns = 700;
  const auto all = length_figures();
  const Verdict verdict =
      figure_of(all, "The length from which messages are announced, on a node").judge(measured);
  EXPECT_EQ(verdict.outcome, Outcome::unclaimed);
  EXPECT_NE(verdict.here.find("4 KiB are fastest (0.7 µs) where messages beyond 16 KiB"),
            std::string::npos)
      << verdict.here;
}

TEST(Lengths, an_adapter_that_is_slower_than_packets_is_said_to_be) {
  Measured measured;
  measured["verbs-announced-8"] = latency(16384, 9000);
  measured["verbs-announced-128"] = latency(16384, 6000);
  const auto all = length_figures();
  const Figure& figure = figure_of(all, "The length from which an adapter moves messages");
  EXPECT_EQ(figure.judge(measured).outcome, Outcome::differs);
  measured["verbs-announced-8"] = latency(16384, 4000);
  EXPECT_EQ(figure.judge(measured).outcome, Outcome::holds);
  measured.erase("verbs-announced-8");
  EXPECT_EQ(figure.judge(measured).outcome, Outcome::unknown);
}

TEST(Lengths, barriers_of_all_nodes_are_told_or_none) {
  Measured measured;
  const auto all = length_figures();
  const Figure& figure = figure_of(all, "A barrier of two, four and six nodes");
  for (const int ranks : {2, 4, 6}) {
    EXPECT_EQ(figure.judge(measured).outcome, Outcome::unknown);
    const double ns = 1000.0 * ranks;
    measure::series_of(measured["nodes-" + std::to_string(ranks)], "barrier", ranks).points = {
        {0, ns, ns, ns, 1, 1}};
  }
  EXPECT_NE(figure.judge(measured).here.find("2 µs on 2 nodes, 4 µs on 4 nodes, 6 µs on 6"),
            std::string::npos);
}

}  // namespace
}  // namespace fulmar::layers
