// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/block_cyclic.h"

#include <gtest/gtest.h>

#include <vector>

namespace fulmar::base {
namespace {

using Parts = std::vector<std::uint32_t>;

void expect_formula(const Parts& parts, bool regular) {
  const BlockCyclic made(parts);
  EXPECT_EQ(made.regular(), regular);
  ASSERT_EQ(made.size(), parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) ASSERT_EQ(made[i], parts[i]) << i;
}

TEST(BlockCyclic, Ranks_placed_by_slot_need_no_list) {
  expect_formula({0, 0, 0, 1, 1, 1, 2, 2, 2}, true);
  expect_formula({0, 0, 0, 1, 1, 1, 2}, true);
  expect_formula({0, 0}, true);
  expect_formula({0}, true);
  expect_formula({}, true);
}

TEST(BlockCyclic, Ranks_placed_by_node_need_no_list) {
  expect_formula({0, 1, 2, 0, 1, 2}, true);
  expect_formula({0, 1, 2, 0}, true);
  expect_formula({0, 0, 1, 1, 0, 0, 1, 1, 0}, true);
}

TEST(BlockCyclic, Other_placements_are_kept_as_they_are) {
  expect_formula({0, 0, 1, 1, 1}, false);
  expect_formula({0, 1, 1, 0}, false);
  expect_formula({1, 0}, false);
  expect_formula({0, 1, 0, 2}, false);
  expect_formula({0, 0, 2, 2}, false);
  expect_formula({3}, false);
}

TEST(BlockCyclic, A_hundred_thousand_members_take_no_memory) {
  static_assert(sizeof(BlockCyclic) <= 48);
  Parts parts;
  for (std::uint32_t rank = 0; rank < 100'000; ++rank) parts.push_back(rank / 64);
  expect_formula(parts, true);
}

}  // namespace
}  // namespace fulmar::base
