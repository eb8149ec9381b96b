// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "sisci/nodes.h"

#include <gtest/gtest.h>

namespace fulmar::sisci {
namespace {

TEST(Nodes, Ranks_are_the_numbers_without_a_file) {
  const Nodes nodes(3);
  EXPECT_EQ(nodes.id_of(2), 2U);
  EXPECT_EQ(nodes.rank_of(2), 2U);
  EXPECT_EQ(nodes.rank_of(3), std::nullopt);
  EXPECT_EQ(nodes.named("1"), std::vector<std::uint32_t>{1});
  EXPECT_TRUE(nodes.named("3").empty());
  EXPECT_TRUE(nodes.named("").empty());
}

TEST(Nodes, A_file_gives_numbers_and_names) {
  Nodes nodes(3);
  EXPECT_EQ(
      nodes.take("# numbers of the old machine\n\n0 4 host-a\n\t1 8 host-a # the second\r\n2 68"),
      "");
  EXPECT_EQ(nodes.id_of(1), 8U);
  EXPECT_EQ(nodes.rank_of(68), 2U);
  EXPECT_EQ(nodes.rank_of(0), std::nullopt);
  EXPECT_EQ(nodes.named("host-a"), (std::vector<std::uint32_t>{4, 8}));
  EXPECT_EQ(nodes.named("2"), std::vector<std::uint32_t>{68}) << "a rank, where no name matches";
}

TEST(Nodes, What_is_wrong_is_said_with_its_line_and_changes_nothing) {
  Nodes nodes(2);
  EXPECT_EQ(nodes.take("0 4\n1"), "line 2: is not RANK ID [NAME]");
  EXPECT_EQ(nodes.take("0 4 name more"), "line 1: is not RANK ID [NAME]");
  EXPECT_EQ(nodes.take("0 -1"), "line 1: is not RANK ID [NAME]");
  EXPECT_EQ(nodes.take("0 99999999999"), "line 1: is not RANK ID [NAME]");
  EXPECT_EQ(nodes.take("2 4"), "line 1: the job has no such rank");
  EXPECT_EQ(nodes.take("0 65536"), "line 1: the id is more than 65535");
  EXPECT_EQ(nodes.take("0 4\n0 8"), "line 2: the rank has an id already");
  EXPECT_EQ(nodes.take("0 1"), "two ranks have id 1");
  EXPECT_EQ(nodes.id_of(0), 0U);
}

}  // namespace
}  // namespace fulmar::sisci
