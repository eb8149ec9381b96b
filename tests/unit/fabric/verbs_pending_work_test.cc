// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include "fabric/verbs/pending_work.h"

namespace fulmar::fabric::verbs {
namespace {

TEST(VerbsOrders, Come_out_as_they_went_in_and_not_before_their_number) {
  Orders orders;
  EXPECT_TRUE(orders.empty());
  EXPECT_FALSE(orders.take().has_value());
  EXPECT_FALSE(orders.take_until(7).has_value());
  orders.add(3, 30);
  orders.add(5, 50);
  orders.add(6, 60);
  EXPECT_EQ(orders.size(), 3U);
  EXPECT_FALSE(orders.take_until(2).has_value());
  EXPECT_EQ(orders.take_until(4), 30U);
  EXPECT_FALSE(orders.take_until(4).has_value());
  EXPECT_EQ(orders.take_until(6), 50U);
  EXPECT_EQ(orders.take(), 60U);
  EXPECT_TRUE(orders.empty());
}

TEST(VerbsOrders, Full_ones_go_round_and_so_do_numbers) {
  Orders orders;
  std::uint32_t number = UINT32_MAX - 100;
  std::uint64_t token = 0;
  while (orders.size() < Orders::most) orders.add(++number, token++);
  for (int i = 0; i < 300; ++i) {
    const std::uint32_t oldest = number - (Orders::most - 1);
    EXPECT_FALSE(orders.take_until(oldest - 1).has_value());
    EXPECT_EQ(orders.take_until(oldest), token - Orders::most);
    orders.add(++number, token++);
    EXPECT_EQ(orders.size(), Orders::most);
  }
}

}  // namespace
}  // namespace fulmar::fabric::verbs
