// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/protocol/rdma_transfer.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/operation.h"

namespace fulmar::device {
namespace {

TEST(RdmaTransfers, Memory_is_used_again_and_nothing_is_left_in_it) {
  RdmaTransfers transfers;
  Operation one;
  Operation other;
  RdmaTransfer& first = transfers.add(one);
  EXPECT_EQ(first.operation, &one);
  first.orders = 3;
  first.lost = first.fin_is_due = true;
  first.token = 17;
  transfers.remove(first);
  EXPECT_EQ(transfers.live(), 0U);
  RdmaTransfer& second = transfers.add(other);
  EXPECT_EQ(&second, &first);
  EXPECT_EQ(second.operation, &other);
  EXPECT_EQ(second.orders, 0U);
  EXPECT_EQ(second.token, 0U);
  EXPECT_FALSE(second.lost || second.fin_is_due);
  EXPECT_EQ(transfers.live(), 1U);
}

TEST(RdmaTransfers, Stay_where_they_are_while_others_come_and_go) {
  RdmaTransfers transfers;
  std::vector<Operation> operations(200);
  RdmaTransfer& first = transfers.add(operations[0]);
  unsigned seen = 0;
  transfers.for_each([&](const RdmaTransfer& transfer) {
    EXPECT_EQ(transfer.operation, &operations[seen]);
    if (++seen == 200) return;
    EXPECT_NE(&transfers.add(operations[seen]), &first);
  });
  EXPECT_EQ(seen, 200U);
  EXPECT_EQ(first.operation, operations.data());
}

}  // namespace
}  // namespace fulmar::device
