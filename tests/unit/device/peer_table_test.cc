// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/peer/peer_table.h"

#include <gtest/gtest.h>

#include "device/transport/transports.h"

namespace fulmar::device {
namespace {

TEST(PeerTable, Peers_stay_where_they_are_while_the_table_grows) {
  Transports transports;
  PeerTable table(transports);
  table.grow(4);
  EXPECT_EQ(table.find(3), nullptr);
  Peer& first = table.connect(3);
  EXPECT_EQ(first.id, 3U);
  EXPECT_EQ(table.find(3), &first);
  table.grow(100'000);
  EXPECT_EQ(table.size(), 100'000U);
  EXPECT_EQ(table.find(3), &first);
  EXPECT_EQ(table.find(4), nullptr);
  EXPECT_EQ(table.find(99'999), nullptr);
  Peer& last = table.connect(99'999);
  EXPECT_EQ(&table.connect(3), &first);
  EXPECT_EQ(&table.connect(99'999), &last);
  ASSERT_EQ(table.connected().size(), 2U);
  EXPECT_EQ(table.connected()[0].get(), &first);
  table.grow(10);
  EXPECT_EQ(table.size(), 100'000U);
}

TEST(PeerTable, A_peer_that_was_not_announced_makes_it_grow) {
  Transports transports;
  PeerTable table(transports);
  table.grow(2);
  Peer& peer = table.connect(1000);
  EXPECT_GT(table.size(), 1000U);
  EXPECT_EQ(table.find(1000), &peer);
  EXPECT_EQ(table.find(1), nullptr);
}

TEST(PeerTable, Only_peers_that_share_memory_are_sent_to_straight) {
  Transports transports;  // without any: as if over a network
  PeerTable table(transports);
  table.grow(2);
  EXPECT_FALSE(table.connect(1).clear);
}

}  // namespace
}  // namespace fulmar::device
