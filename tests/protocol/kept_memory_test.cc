// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "protocol/cluster.h"

/// Memory that stays registered between messages: it is registered once.
namespace fulmar::device {
namespace {

constexpr std::size_t bytes = 3 * fabric::Fake::max_remote_bytes + 500;

Device::Config long_messages(RdmaProtocol way) {
  Device::Config config;
  config.rdma_protocol = way;
  config.remote_bytes = 1000;
  return config;
}

class KeptMemory : public ::testing::TestWithParam<RdmaProtocol> {
 protected:
  KeptMemory() : cluster(2, long_messages(GetParam())), blocks(2, std::vector<std::byte>(bytes)) {
    cluster.network.set_reach(false);
    cluster.network.memory().turn_on();
  }
  /// One message from the block of one rank to that of the other.
  void exchange(std::uint32_t seed, std::uint32_t from = 0) {
    for (std::size_t at = 0; at < bytes; ++at) blocks[from][at] = content(seed, at);
    Message send;
    Message receive;
    start(send, from);
    cluster.device(from).start_send(send.operation);
    start(receive, 1 - from);
    cluster.device(1 - from).start_receive(receive.operation);
    cluster.settle();
    EXPECT_TRUE(send.done() && receive.done());
    EXPECT_EQ(receive.outcome().error, base::ErrorClass::success);
    EXPECT_EQ(blocks[1], blocks[0]);
  }
  void start(Message& message, std::uint32_t at) {
    message.operation.posted.key = {0, 1 - at, 5};
    message.operation.buffer = {blocks[at].data(), bytes, nullptr};
  }
  void keep(std::uint64_t budget) {
    for (const std::uint32_t rank : {0U, 1U}) {
      cluster.device(rank).memory().keep(budget);
      cluster.device(rank).memory().own(blocks[rank]);
    }
  }
  [[nodiscard]] std::uint64_t opened() { return cluster.network.memory().counters().opened; }
  [[nodiscard]] std::size_t open_now() { return cluster.network.memory().open_regions(); }

  Cluster cluster;
  std::vector<std::vector<std::byte>> blocks;
};

TEST_P(KeptMemory, Second_transfer_opens_nothing) {
  keep(1U << 20);
  exchange(1);
  EXPECT_EQ(opened(), 2U);
  exchange(2);
  exchange(3);
  EXPECT_EQ(opened(), 2U);
  EXPECT_EQ(open_now(), 2U);
  EXPECT_EQ(cluster.device(0).transfers(), 0U);
  EXPECT_EQ(cluster.device(0).memory().figures().hits, 2U);
  EXPECT_EQ(cluster.device(1).memory().figures().hits, 2U);
}

TEST_P(KeptMemory, Every_transfer_opens_where_nothing_may_be_kept) {
  keep(0);
  exchange(1);
  exchange(2);
  EXPECT_EQ(opened(), 4U);
  EXPECT_TRUE(cluster.clean());
}

TEST_P(KeptMemory, Freed_memory_is_closed_and_opened_again) {
  keep(1U << 20);
  exchange(1);
  for (const std::uint32_t rank : {0U, 1U}) {
    cluster.device(rank).memory().disown(blocks[rank].data());
  }
  EXPECT_TRUE(cluster.clean());
  keep(1U << 20);
  exchange(2);
  EXPECT_EQ(opened(), 4U);
}

/// Memory that was sent from is received into: to be read by a peer is not to be written here.
TEST_P(KeptMemory, Same_memory_serves_both_directions) {
  keep(1U << 20);
  for (std::uint32_t seed = 1; seed < 5; ++seed) {
    exchange(seed);
    exchange(seed + 10, 1);
  }
  EXPECT_LE(opened(), 4U);
  EXPECT_EQ(cluster.network.memory().counters().breaches, 0U);
}

/// The peer deregisters the memory while the other keeps its key. Expect: the next message
/// names what is open now.
TEST_P(KeptMemory, Keys_of_earlier_messages_are_not_used) {
  keep(1U << 20);
  exchange(1);
  cluster.device(1).memory().keep(0);
  exchange(2);
  cluster.device(0).memory().keep(0);
  exchange(3);
  EXPECT_EQ(cluster.network.memory().counters().bad_places, 0U);
  EXPECT_TRUE(cluster.clean());
}

INSTANTIATE_TEST_SUITE_P(Ways, KeptMemory,
                         ::testing::Values(RdmaProtocol::fetch, RdmaProtocol::put),
                         [](const auto& each) {
                           return each.param == RdmaProtocol::fetch ? "fetch" : "put";
                         });

}  // namespace
}  // namespace fulmar::device
