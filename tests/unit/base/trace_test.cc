// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/trace.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace fulmar::base {
namespace {

TEST(Trace, keeps_begins_and_ends_in_their_order) {
  Trace trace(64);
  {
    const TraceSpan outer(&trace, "outer", 3, 100);
    const TraceSpan inner(&trace, "inner");
  }
  const Trace::Taken taken = trace.take();
  ASSERT_EQ(taken.records.size(), 4U);
  EXPECT_EQ(taken.lost, 0U);
  EXPECT_STREQ(taken.records[0].name, "outer");
  EXPECT_EQ(taken.records[0].peer, 3U);
  EXPECT_EQ(taken.records[0].bytes, 100U);
  EXPECT_STREQ(taken.records[1].name, "inner");
  EXPECT_EQ(taken.records[1].peer, Trace::no_peer);
  EXPECT_EQ(taken.records[2].name, nullptr);
  EXPECT_EQ(taken.records[3].name, nullptr);
  for (std::size_t i = 1; i < taken.records.size(); ++i) {
    EXPECT_GE(taken.records[i].ns, taken.records[i - 1].ns);
  }
}

TEST(Trace, without_a_trace_a_span_is_nothing) { const TraceSpan span(nullptr, "nothing"); }

TEST(Trace, the_newest_records_stay) {
  Trace trace(5);  // 8
  const char* const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  for (const char* name : names) trace.begin(name, Trace::no_peer, 0);
  const Trace::Taken taken = trace.take();
  ASSERT_EQ(taken.records.size(), 8U);
  EXPECT_EQ(taken.lost, 2U);
  EXPECT_STREQ(taken.records.front().name, "2");
  EXPECT_STREQ(taken.records.back().name, "9");
}

TEST(Trace, threads_are_told_apart_and_lose_nothing) {
  constexpr int spans = 1000;
  Trace trace(8192);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < spans; ++k) const TraceSpan span(&trace, "span");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Trace::Taken taken = trace.take();
  EXPECT_EQ(taken.records.size() + taken.lost, 4U * 2 * spans);
  EXPECT_EQ(taken.lost, 0U);
  std::size_t begins = 0;
  for (const Trace::Record& record : taken.records) begins += record.name != nullptr ? 1 : 0;
  EXPECT_EQ(begins, 4U * spans);
}

}  // namespace
}  // namespace fulmar::base
