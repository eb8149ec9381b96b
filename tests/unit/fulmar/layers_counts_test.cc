// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "fulmar/layers/study.h"
#include "fulmar/layers/verdicts.h"
#include "fulmar/measure/json.h"

namespace fulmar::layers {
namespace {

/// A tree in which so many messages were announced, answered and ended.
trace::Node exchanges(std::uint64_t announced, std::uint64_t answered, std::uint64_t ended) {
  trace::Node tree;
  tree.below = {{"post rts", announced, 0, 0, 0, {}},
                {"post cts_put", answered, 0, 0, 0, {}},
                {"post fin", ended, 0, 0, 0, {}}};
  return tree;
}

TEST(Handshakes, one_exchange_holds_and_two_differ) {
  Trees trees;
  EXPECT_EQ(judge_handshakes(trees).outcome, Outcome::unknown);
  trees["short"] = exchanges(0, 0, 0);
  EXPECT_EQ(judge_handshakes(trees).outcome, Outcome::unknown);
  trees["long"] = exchanges(100, 0, 100);
  EXPECT_EQ(judge_handshakes(trees).outcome, Outcome::holds);
  trees["put"] = exchanges(100, 100, 100);
  const Verdict verdict = judge_handshakes(trees);
  EXPECT_EQ(verdict.outcome, Outcome::holds);
  EXPECT_NE(verdict.here.find("the sender writes: one announcement, 1 answers, 1 ends."),
            std::string::npos)
      << verdict.here;
  trees["put"] = exchanges(100, 200, 100);
  EXPECT_EQ(judge_handshakes(trees).outcome, Outcome::differs);
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

TEST(Counts, over_an_adapter_are_those_of_its_settings) {
  Measured measured = counted(3, 80);
  EXPECT_EQ(judge_adapter_counts(measured).outcome, Outcome::unknown);
  for (const char* name : {"basic", "piggyback", "pipeline", "zerocopy"}) {
    measured[std::string("verbs-") + name] = measured[name];
  }
  EXPECT_EQ(judge_adapter_counts(measured).outcome, Outcome::holds);
  measured["verbs-zerocopy"].counts.back().per_message = 2;
  EXPECT_EQ(judge_adapter_counts(measured).outcome, Outcome::differs);
  EXPECT_EQ(judge_counts(measured).outcome, Outcome::holds);
}

TEST(Counts, survive_a_result_file) {
  std::string problem;
  const auto read = measure::from_json(measure::to_json(counted(3, 80)["zerocopy"]), problem);
  ASSERT_TRUE(read) << problem;
  const auto* count = measure::find_count(*read, "channel_design_handshakes", 1U << 20);
  ASSERT_NE(count, nullptr);
  EXPECT_EQ(count->per_message, 1);
}

}  // namespace
}  // namespace fulmar::layers
