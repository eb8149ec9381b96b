// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/rank_pattern.h"

#include <gtest/gtest.h>

namespace fulmar::mpiexec {
namespace {

TEST(RankPattern, Letters_stand_for_rank_and_host) {
  EXPECT_EQ(expand_pattern("%h.%r.out", 3, 200, "node"), "node.3.out");
  EXPECT_EQ(expand_pattern("rank.%R", 3, 200, ""), "rank.003");
  EXPECT_EQ(expand_pattern("rank.%R", 3, 10, ""), "rank.3");
  EXPECT_EQ(expand_pattern("%g%p", 3, 10, ""), "00");
}

TEST(RankPattern, Other_percent_signs_stay) {
  EXPECT_EQ(expand_pattern("100%", 1, 2, ""), "100%");
  EXPECT_EQ(expand_pattern("%x%%r", 1, 2, ""), "%x%r");
  EXPECT_EQ(expand_pattern("", 1, 2, ""), "");
}

TEST(RankPattern, Quoted_text_means_itself) {
  for (const char* text : {"plain", "%r", "a%%b%h%", "%"}) {
    EXPECT_EQ(expand_pattern(quote_pattern(text), 1, 2, "h"), text);
  }
}

}  // namespace
}  // namespace fulmar::mpiexec
