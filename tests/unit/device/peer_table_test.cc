// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/peer/peer_table.h"

#include <gtest/gtest.h>

#include "device/peer/process_table.h"
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

TEST(ProcessTable, Ids_of_a_job_follow_each_other) {
  ProcessTable table;
  EXPECT_EQ(table.add_job(7, 4), 0U);
  EXPECT_EQ(table.add_job(9, 3), 4U);
  EXPECT_EQ(table.size(), 7U);
  for (std::uint32_t id = 0; id < table.size(); ++id) {
    const ProcessName name = id < 4 ? ProcessName{7, id} : ProcessName{9, id - 4};
    EXPECT_EQ(table.name_of(id), name);
    EXPECT_EQ(table.id_of(name), id);
  }
  EXPECT_FALSE(table.name_of(7).has_value());
}

TEST(ProcessTable, A_job_that_is_known_keeps_its_ids) {
  ProcessTable table;
  ASSERT_EQ(table.add_job(1, 2), 0U);
  ASSERT_EQ(table.add_job(2, 2), 2U);
  EXPECT_EQ(table.add_job(1, 2), 0U);
  EXPECT_EQ(table.size(), 4U);
}

TEST(ProcessTable, What_is_not_known_is_refused) {
  ProcessTable table;
  ASSERT_EQ(table.add_job(1, 2), 0U);
  EXPECT_FALSE(table.id_of({1, 2}).has_value());
  EXPECT_FALSE(table.id_of({2, 0}).has_value());
  EXPECT_FALSE(table.name_of(UINT32_MAX).has_value());
  EXPECT_FALSE(table.add_job(2, UINT32_MAX).has_value());
  EXPECT_EQ(table.size(), 2U);
}

TEST(ProcessTable, A_job_without_processes_takes_no_id) {
  ProcessTable table;
  ASSERT_EQ(table.add_job(1, 0), 0U);
  ASSERT_EQ(table.add_job(2, 1), 0U);
  EXPECT_EQ(table.name_of(0), (ProcessName{2, 0}));
  EXPECT_FALSE(table.id_of({1, 0}).has_value());
}

}  // namespace
}  // namespace fulmar::device
