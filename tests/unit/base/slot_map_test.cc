// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/slot_map.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fulmar::base {
namespace {

TEST(SlotMap, Token_of_a_removed_object_finds_nothing_even_when_its_slot_is_used_again) {
  SlotMap<int> map;
  int one = 1;
  int other = 2;
  const std::uint64_t token = map.add(one);
  EXPECT_NE(token, 0U);
  EXPECT_EQ(map.find(token), &one);
  map.remove(token);
  EXPECT_EQ(map.find(token), nullptr);
  EXPECT_EQ(map.live(), 0U);
  const std::uint64_t second = map.add(other);
  EXPECT_EQ(second & 0xffffffff, token & 0xffffffff);
  EXPECT_NE(second, token);
  EXPECT_EQ(map.find(token), nullptr);
  EXPECT_EQ(map.find(second), &other);
}

TEST(SlotMap, Tokens_that_were_made_up_find_nothing) {
  SlotMap<int> map;
  int object = 0;
  const std::uint64_t token = map.add(object);
  for (const std::uint64_t wrong :
       {std::uint64_t{0}, token + 1, token - 1, token + (std::uint64_t{1} << 32),
        token ^ (std::uint64_t{1} << 63), ~std::uint64_t{0}}) {
    EXPECT_EQ(map.find(wrong), nullptr) << std::hex << wrong;
  }
}

TEST(SlotMap, Calls_for_each_live_object_while_they_come_and_go) {
  SlotMap<int> map;
  std::vector<int> objects(10);
  std::vector<std::uint64_t> tokens;
  for (int& object : objects) tokens.push_back(map.add(object));
  map.remove(tokens[3]);
  std::set<int*> seen;
  map.for_each([&](int& object) {
    EXPECT_TRUE(seen.insert(&object).second);
    if (&object == objects.data()) map.remove(tokens[7]);
  });
  EXPECT_EQ(seen.size(), 8U);
  EXPECT_FALSE(seen.contains(&objects[3]) || seen.contains(&objects[7]));
  EXPECT_EQ(map.live(), 8U);
}

}  // namespace
}  // namespace fulmar::base
