// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/file_system/aggregator_list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fulmar::io {
namespace {

using Ranks = std::vector<int>;

/// Two ranks on node a, three on b.cluster, one on c; in turn.
const Ranks node_of = {0, 1, 2, 0, 1, 1};
const std::vector<std::string> hosts = {"a", "b.cluster", "c"};

Ranks allowed(const char* text) {
  const auto rules = parse_aggregator_list(text);
  EXPECT_TRUE(rules.has_value()) << text;
  return rules ? allowed_aggregators(*rules, node_of, hosts) : Ranks();
}

TEST(AggregatorList, any_host) {
  EXPECT_EQ(allowed("*"), (Ranks{0, 1, 2}));
  EXPECT_EQ(allowed("*:1"), (Ranks{0, 1, 2}));
  EXPECT_EQ(allowed("*:2"), (Ranks{0, 1, 2, 3, 4}));
  EXPECT_EQ(allowed("*:*"), (Ranks{0, 1, 2, 3, 4, 5}));
}

TEST(AggregatorList, named_hosts_in_their_order) {
  EXPECT_EQ(allowed("c,a:*"), (Ranks{2, 0, 3}));
  EXPECT_EQ(allowed("b:2"), (Ranks{1, 4}));
  EXPECT_EQ(allowed("b.cluster:9"), (Ranks{1, 4, 5}));
  EXPECT_EQ(allowed("*:2,b:1"), (Ranks{0, 2, 3, 1}));
  EXPECT_EQ(allowed("a:0,*:1"), (Ranks{1, 2}));
}

TEST(AggregatorList, that_fits_no_host_leaves_rank_0) {
  EXPECT_EQ(allowed("elsewhere:4"), (Ranks{0}));
  EXPECT_EQ(allowed("*:0"), (Ranks{0}));
}

TEST(AggregatorList, that_is_none_is_not_taken) {
  for (const char* text : {"", ",", "*:", "*:-1", "*:x", ":1", "a:1,", "*:1 ", "*:99999999999"}) {
    EXPECT_FALSE(parse_aggregator_list(text).has_value()) << text;
  }
  EXPECT_FALSE(parse_aggregator_list(std::string(longest_aggregator_list + 1, 'a')).has_value());
}

}  // namespace
}  // namespace fulmar::io
