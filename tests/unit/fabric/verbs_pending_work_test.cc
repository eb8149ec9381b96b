// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include "fabric/verbs/pending_work.h"

namespace fulmar::fabric::verbs {
namespace {

TEST(VerbsOrders, Come_out_as_they_went_in_and_not_before_their_number) {
  PendingRdma pending_rdma;
  EXPECT_TRUE(pending_rdma.empty());
  EXPECT_FALSE(pending_rdma.take().has_value());
  EXPECT_FALSE(pending_rdma.take_until(7).has_value());
  pending_rdma.add(3, 30);
  pending_rdma.add(5, 50);
  pending_rdma.add(6, 60);
  EXPECT_EQ(pending_rdma.size(), 3U);
  EXPECT_FALSE(pending_rdma.take_until(2).has_value());
  EXPECT_EQ(pending_rdma.take_until(4), 30U);
  EXPECT_FALSE(pending_rdma.take_until(4).has_value());
  EXPECT_EQ(pending_rdma.take_until(6), 50U);
  EXPECT_EQ(pending_rdma.take(), 60U);
  EXPECT_TRUE(pending_rdma.empty());
}

TEST(VerbsOrders, Full_ones_go_round_and_so_do_numbers) {
  PendingRdma pending_rdma;
  std::uint32_t number = UINT32_MAX - 100;
  std::uint64_t token = 0;
  while (pending_rdma.size() < PendingRdma::most) pending_rdma.add(++number, token++);
  for (int i = 0; i < 300; ++i) {
    const std::uint32_t oldest = number - (PendingRdma::most - 1);
    EXPECT_FALSE(pending_rdma.take_until(oldest - 1).has_value());
    EXPECT_EQ(pending_rdma.take_until(oldest), token - PendingRdma::most);
    pending_rdma.add(++number, token++);
    EXPECT_EQ(pending_rdma.size(), PendingRdma::most);
  }
}

}  // namespace
}  // namespace fulmar::fabric::verbs
