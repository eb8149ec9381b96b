// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "protocol/cluster.h"

/// An operation is ended while its bytes are under way, by each protocol: it has the error, nothing
/// is left of it here, and what its peer still sends is dropped.
namespace fulmar::device {
namespace {

constexpr std::size_t bytes = 200'000;

Device::Config with(RdmaProtocol way) {
  Device::Config config;
  config.rdma_protocol = way;
  return config;
}

void expect_ended(const Message& message) {
  ASSERT_TRUE(message.done());
  EXPECT_EQ(message.outcome().error, base::ErrorClass::other);
  EXPECT_EQ(message.outcome().bytes, 0U);
}

TEST(Abort, Announced_send) {
  Cluster cluster(2);
  auto send = cluster.send(0, 1, 5, bytes);
  ASSERT_EQ(send->stage(), Stage::announced);
  cluster.device(0).abort(send->operation, base::ErrorClass::other);
  expect_ended(*send);
  EXPECT_EQ(cluster.device(0).named_operations(), 0U);
  EXPECT_EQ(cluster.device(0).transfers(), 0U);
}

TEST(Abort, Receive_of_a_stream) {
  Cluster cluster(2, with(RdmaProtocol::off));
  cluster.network.set_reach(false);
  auto send = cluster.send(0, 1, 5, bytes);
  auto receive = cluster.receive(1, 0, 5, bytes);
  cluster.device(1).progress();
  ASSERT_EQ(receive->stage(), Stage::streaming);
  cluster.device(1).abort(receive->operation, base::ErrorClass::other);
  expect_ended(*receive);
  cluster.settle();
  EXPECT_TRUE(send->done());
  EXPECT_GT(cluster.device(1).counters().malformed, 0U);
  EXPECT_TRUE(cluster.clean());
}

TEST(Abort, Send_of_a_stream) {
  Cluster cluster(2, with(RdmaProtocol::off));
  cluster.network.set_reach(false);
  auto send = cluster.send(0, 1, 5, bytes);
  auto receive = cluster.receive(1, 0, 5, bytes);
  cluster.step(2);
  ASSERT_EQ(send->stage(), Stage::streaming);
  cluster.device(0).abort(send->operation, base::ErrorClass::other);
  expect_ended(*send);
  cluster.step(10);
  EXPECT_FALSE(receive->done());
  cluster.device(1).abort(receive->operation, base::ErrorClass::other);
  cluster.settle();
  EXPECT_TRUE(cluster.clean());
}

/// The adapter is writing to the receiver's memory: it is not given back before that has ended.
TEST(Abort, Receive_that_an_adapter_reads_ends_with_its_last_order) {
  Cluster cluster(2, with(RdmaProtocol::fetch));
  cluster.network.memory().turn_on();
  cluster.network.memory().hold_orders();
  auto send = cluster.send(0, 1, 5, bytes);
  auto receive = cluster.receive(1, 0, 5, bytes);
  cluster.device(1).progress();
  ASSERT_EQ(receive->stage(), Stage::fetching);
  ASSERT_GT(cluster.network.memory().under_way(), 0U);
  cluster.device(1).abort(receive->operation, base::ErrorClass::other);
  EXPECT_FALSE(receive->done());
  EXPECT_EQ(cluster.device(1).transfers(), 1U);
  cluster.settle();
  expect_ended(*receive);
  EXPECT_EQ(cluster.device(1).transfers(), 0U);
  EXPECT_FALSE(send->done());
  cluster.device(0).abort(send->operation, base::ErrorClass::other);
  expect_ended(*send);
  EXPECT_TRUE(cluster.clean());
}

TEST(Abort, Both_sides_of_a_message_that_an_adapter_writes) {
  Cluster cluster(2, with(RdmaProtocol::put));
  cluster.network.memory().turn_on();
  cluster.network.memory().hold_orders();
  // More than the orders that may be under way: the fin, which would end the receive, is not out.
  constexpr std::size_t long_bytes = 2'000'000;
  auto send = cluster.send(0, 1, 5, long_bytes);
  auto receive = cluster.receive(1, 0, 5, long_bytes);
  cluster.step(2);
  ASSERT_EQ(send->stage(), Stage::putting);
  ASSERT_GT(cluster.network.memory().under_way(), 0U);
  cluster.device(0).abort(send->operation, base::ErrorClass::other);
  EXPECT_FALSE(send->done());
  cluster.network.memory().let_orders_go();
  cluster.step(50);
  expect_ended(*send);
  cluster.device(1).abort(receive->operation, base::ErrorClass::other);
  expect_ended(*receive);
  cluster.settle();
  EXPECT_EQ(cluster.device(0).transfers(), 0U);
  EXPECT_EQ(cluster.device(1).transfers(), 0U);
}

/// What `fulmar info` prints, and what the choice needs of the table.
TEST(Protocols, Table_is_complete) {
  std::set<std::string_view> names;
  const Config config;
  for (const Protocol& protocol : Device::protocols()) {
    EXPECT_TRUE(names.insert(protocol.name).second) << protocol.name;
    EXPECT_LE(protocol.from_bytes(config), protocol.to_bytes(config)) << protocol.name;
    EXPECT_NE(protocol.cost[0], '\0') << protocol.name;
    EXPECT_NE(protocol.packets[0], '\0') << protocol.name;
    const bool posts = &protocol == &device::protocol(ProtocolId::eager) ||
                       &protocol == &device::protocol(ProtocolId::eager_sync);
    EXPECT_EQ(protocol.start == nullptr, posts) << protocol.name;
    EXPECT_EQ(protocol.step == nullptr, posts) << protocol.name;
    EXPECT_EQ(protocol.abort == nullptr, posts) << protocol.name;
  }
  const Protocol& last = Device::protocols().back();
  EXPECT_EQ(std::string_view(last.name), "rndv_stream");
  EXPECT_EQ(last.applies, nullptr) << "one protocol carries every message";
}

}  // namespace
}  // namespace fulmar::device
