// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/node/node_join.h"

#include <gtest/gtest.h>

namespace fulmar::wire {
namespace {

using Ranks = std::vector<std::uint32_t>;

TEST(Cards, Come_back) {
  JobInfo job;
  job.job_id = 0x12345678;
  job.key[31] = 7;
  const auto job_again = decode_job_card(encode(job));
  ASSERT_TRUE(job_again.ok());
  EXPECT_EQ(job_again.value().job_id, job.job_id);
  EXPECT_EQ(job_again.value().key, job.key);

  NodeInfo node;
  node.name[0] = 0xab;
  node.secret[5] = 9;
  const auto node_again = decode_node_card(encode(node));
  ASSERT_TRUE(node_again.ok());
  EXPECT_EQ(node_again.value().secret, node.secret);
  EXPECT_EQ(node_socket_name(node_again.value()), "fulmar-node-ab" + std::string(30, '0'));
}

TEST(Cards, Others_are_refused) {
  JobInfo job;
  EXPECT_FALSE(decode_job_card(encode(job)).ok()) << "the id is 0";
  job.job_id = 1;
  auto bytes = encode(job);
  EXPECT_FALSE(decode_node_card(bytes).ok());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_job_card(bytes).ok());
  bytes.resize(bytes.size() - 2);
  EXPECT_FALSE(decode_job_card(bytes).ok());
  EXPECT_FALSE(decode_job_card({}).ok());
  auto other = encode(NodeInfo());
  other[3] = std::byte{'9'};
  EXPECT_FALSE(decode_node_card(other).ok()) << "another version";
}

TEST(RankList, Comes_back) {
  for (const Ranks& ranks : {Ranks{0}, Ranks{0, 1}, Ranks{3, 5, 6, 7, 9}, Ranks{0, 2, 4}}) {
    EXPECT_EQ(decode_ranks(encode_ranks(ranks), 10).value(), ranks);
  }
  EXPECT_EQ(encode_ranks(Ranks{3, 5, 6, 7, 9}), "3,5-7,9");
}

TEST(RankList, Others_are_refused) {
  for (const char* text : {"", ",", "1,", "1,1", "2,1", "1-", "2-2", "2-1", "-1", "10", "1-10", "a",
                           "1 2", "0-4294967296"}) {
    EXPECT_FALSE(decode_ranks(text, 10).ok()) << text;
  }
}

TEST(Secret, One_bit_counts) {
  std::array<std::uint8_t, 32> a{};
  std::array<std::uint8_t, 32> b{};
  EXPECT_TRUE(same_secret(a, b));
  b[31] = 1;
  EXPECT_FALSE(same_secret(a, b));
}

}  // namespace
}  // namespace fulmar::wire
