// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "fulmar/layers/page.h"
#include "fulmar/layers/study.h"
#include "fulmar/layers/verdicts.h"
#include "fulmar/measure/json.h"

namespace fulmar::layers {
namespace {

using measure::Results;

/// A setting that takes `ns` for 8 bytes and moves `megabytes` a second of long messages.
Results result(double ns, double megabytes) {
  Results results;
  series_of(results, "latency", 2).points.push_back({8, ns, ns, ns, 1, 1});
  for (std::size_t bytes = 1024; bytes <= std::size_t{4} << 20; bytes *= 2) {
    const double each = static_cast<double>(bytes) * 1000 / megabytes;
    series_of(results, "bandwidth", 2).points.push_back({bytes, each, each, each, 1, 1});
    series_of(results, "bibw", 2).points.push_back({bytes, each / 2, each, each, 1, 1});
  }
  return results;
}

/// As the papers found.
Measured as_in_the_papers() {
  Measured measured;
  measured["basic"] = result(18600, 230);
  measured["piggyback"] = result(7400, 300);
  measured["pipeline"] = result(7400, 520);
  measured["zerocopy"] = result(7600, 857);
  measured["write"] = result(7600, 900);
  measured["chunk1"] = result(7400, 300);
  measured["chunk2"] = result(7400, 510);
  measured["chunk4"] = result(7400, 515);
  measured["chunk8"] = result(7400, 520);
  measured["chunk32"] = result(7400, 400);
  measured["channel"] = result(5600, 650);
  measured["ch3"] = result(5300, 840);
  measured["adi3"] = result(4900, 840);
  return measured;
}

TEST(Figures, everything_holds_where_the_papers_measured) {
  const Measured measured = as_in_the_papers();
  for (const Figure& figure : figures()) {
    const Verdict verdict = figure.judge(measured);
    EXPECT_EQ(verdict.outcome, Outcome::holds) << figure.title << ": " << verdict.here;
  }
}

TEST(Figures, nothing_holds_where_all_are_alike) {
  Measured measured;
  for (const Setting& setting : settings()) {
    measured[setting.name] = result(5000, 800);
  }
  for (const Figure& figure : figures()) {
    const bool alike_is_what_was_found =
        figure.judge == judge_short_zerocopy || figure.judge == judge_both_ways;
    EXPECT_EQ(figure.judge(measured).outcome,
              alike_is_what_was_found ? Outcome::holds : Outcome::differs)
        << figure.title;
  }
}

TEST(Figures, without_figures_nothing_is_claimed) {
  for (const Figure& figure : figures()) {
    EXPECT_EQ(figure.judge({}).outcome, Outcome::unknown) << figure.title;
  }
  EXPECT_EQ(judge_counts({}).outcome, Outcome::unknown);
}

TEST(Figures, ask_for_settings_that_there_are) {
  std::set<std::string> names;
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
  }
  for (const Figure& figure : figures()) {
    for (const std::string& name : figure.names) {
      EXPECT_EQ(names.count(name), 1U) << name;
    }
  }
}

Measured counted(double basic_writes, double zerocopy_bytes) {
  Measured measured;
  measured["basic"].counts = {{"channel_design_writes", 8, basic_writes}};
  measured["piggyback"].counts = {{"channel_design_writes", 8, 1}};
  measured["pipeline"].counts = {{"channel_design_copied_bytes", 1U << 20, 2.0 * (1U << 20)}};
  measured["zerocopy"].counts = {{"channel_design_copied_bytes", 1U << 20, zerocopy_bytes},
                                 {"channel_design_handshakes", 1U << 20, 1}};
  return measured;
}

TEST(Counts, three_writes_and_no_copy_hold) {
  EXPECT_EQ(judge_counts(counted(3, 80)).outcome, Outcome::holds);
  EXPECT_EQ(judge_counts(counted(1, 80)).outcome, Outcome::differs);
  EXPECT_EQ(judge_counts(counted(3, 2e6)).outcome, Outcome::differs);
}

TEST(Counts, survive_a_result_file) {
  std::string problem;
  const auto read = measure::from_json(measure::to_json(counted(3, 80)["zerocopy"]), problem);
  ASSERT_TRUE(read) << problem;
  const auto* count = measure::find_count(*read, "channel_design_handshakes", 1U << 20);
  ASSERT_NE(count, nullptr);
  EXPECT_EQ(count->per_message, 1);
}

TEST(LayersPage, needs_nothing_else_and_says_what_holds) {
  Measured measured = as_in_the_papers();
  const std::string html = page(measured);
  for (const char* outside : {"http://", "https://", "<script", "src=", "@import", "url("}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(html.find("This holds here."), std::string::npos);
  EXPECT_EQ(html.find("This is different here."), std::string::npos);
  measured["zerocopy"] = result(7600, 100);
  EXPECT_NE(page(measured).find("This is different here."), std::string::npos);
}

TEST(LayersPage, draws_no_figure_of_nothing) {
  EXPECT_EQ(page({}).find("<svg"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::layers
