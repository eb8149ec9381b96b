// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/transfers.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/cookies.h"
#include "device/operation.h"

namespace fulmar::device {
namespace {

TEST(Transfers, Token_of_a_removed_one_is_known) {
  Transfers transfers;
  Operation one;
  Operation other;
  const std::uint32_t number = transfers.add(one, {});
  const std::uint64_t token = transfers.token(number);
  EXPECT_EQ(transfers.find(token)->operation, &one);
  transfers.remove(number);
  EXPECT_EQ(transfers.find(token), nullptr);
  EXPECT_EQ(transfers.add(other, {}), number);
  EXPECT_EQ(transfers.find(token), nullptr);
  EXPECT_NE(transfers.token(number), token);
  EXPECT_EQ(transfers.live(), 1U);
}

TEST(Transfers, Tokens_are_no_cookies) {
  Transfers transfers;
  CookieTable cookies;
  Operation operation;
  for (unsigned i = 0; i < 100; ++i) {
    EXPECT_TRUE(Transfers::is_token(transfers.token(transfers.add(operation, {}))));
    EXPECT_FALSE(Transfers::is_token(cookies.add(operation)));
  }
  EXPECT_EQ(transfers.find((std::uint64_t{1} << 32) | Transfers::token_bit | 100), nullptr);
}

TEST(Transfers, Stay_where_they_are_while_others_come_and_go) {
  Transfers transfers;
  std::vector<Operation> operations(200);
  const std::uint32_t first = transfers.add(operations[0], {});
  const Transfer* const place = &transfers.at(first);
  unsigned seen = 0;
  transfers.for_each([&](const Transfer& transfer) {
    EXPECT_EQ(transfer.operation, &operations[seen]);
    if (++seen == 200) return;
    EXPECT_NE(transfers.add(operations[seen], {}), first);
  });
  EXPECT_EQ(seen, 200U);
  EXPECT_EQ(&transfers.at(first), place);
}

}  // namespace
}  // namespace fulmar::device
