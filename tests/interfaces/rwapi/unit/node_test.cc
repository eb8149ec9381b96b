// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "rwapi/node.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "interfaces/device_port.h"
#include "protocol/cluster.h"
#include "wire/packets.h"

namespace fulmar::rwapi {
namespace {

/// Nodes on a network that does nothing by itself: what goes to another host.
class Nodes : public ::testing::Test {
 protected:
  static constexpr std::uint32_t count = 3;
  Nodes() : cluster(count) {
    for (std::uint32_t id = 0; id < count; ++id) {
      nodes.push_back(std::make_unique<Node>());
      ports.push_back(std::make_unique<interfaces::DevicePort>(
          cluster.device(id), interfaces::PortId::rwapi, *nodes.back()));
      EXPECT_TRUE(nodes.back()->attach(*ports.back(), std::size_t{4} << 20));
      blocks.push_back(nodes.back()->allocate(block_bytes, nets.emplace_back()));
    }
  }
  ~Nodes() override {
    cluster.settle();
    for (auto& port : ports) port->stop(interfaces::Port::Leaving::together);
    for (auto& node : nodes) node->detach();
  }
  /// A frame of node 1 to node 0, as a broken or hostile node might send it.
  void hostile(wire::RwapiKind kind, std::span<const std::byte> header,
               std::span<const std::byte> payload = {}) {
    ASSERT_TRUE(ports[1]->send(0, static_cast<std::uint8_t>(kind), header, payload, nullptr));
    cluster.settle();
  }
  static int as_int(rwapi_sid sid) { return static_cast<int>(sid); }

  static constexpr std::size_t block_bytes = 100'000;
  device::Cluster cluster;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::unique_ptr<interfaces::DevicePort>> ports;
  std::vector<rwapi_net> nets;
  std::vector<void*> blocks;
};

TEST_F(Nodes, An_SID_tells_of_its_own_message_whatever_the_others_do) {
  std::memset(blocks[0], 7, block_bytes);
  // Nobody takes anything from node 0 at node 1 for a while.
  cluster.network.hold(0, 1, 1000);
  const rwapi_sid to_1 = nodes[0]->write(1, nets[0], nets[1], block_bytes);
  const rwapi_sid to_2 = nodes[0]->write(2, nets[0], nets[2], block_bytes);
  ASSERT_LT(to_1, to_2);
  cluster.step(100);
  EXPECT_EQ(nodes[0]->is_sent(to_2), 1);
  EXPECT_EQ(nodes[0]->is_sent(to_1), 0) << "a count of completions would say that it is";
  cluster.settle();
  cluster.step(2000);
  EXPECT_EQ(nodes[0]->is_sent(to_1), 1);
  EXPECT_EQ(std::memcmp(blocks[1], blocks[0], block_bytes), 0);
}

TEST_F(Nodes, Writes_that_arrive_together_are_answered_once) {
  std::vector<rwapi_sid> sids;
  for (int i = 0; i < 20; ++i) sids.push_back(nodes[0]->write(1, nets[0], nets[1], 8));
  cluster.device(1).progress();
  EXPECT_LE(cluster.network.queue(1, 0).size(), 2U);
  cluster.settle();
  for (const rwapi_sid sid : sids) EXPECT_EQ(nodes[0]->is_sent(sid), 1);
}

TEST_F(Nodes, Only_the_write_with_the_bad_address_fails) {
  rwapi_net forged = nets[1];
  forged.seal ^= 1;
  rwapi_net beyond = nets[1];
  beyond.offset = block_bytes - 7;
  const rwapi_sid good = nodes[0]->write(1, nets[0], nets[1], 8);
  const rwapi_sid bad = nodes[0]->write(1, nets[0], forged, block_bytes);
  const rwapi_sid far = nodes[0]->write(1, nets[0], beyond, 8);
  const rwapi_sid other = nodes[0]->write(1, nets[0], nets[2], 8);
  const rwapi_sid last = nodes[0]->write(1, nets[0], nets[1], 8);
  cluster.settle();
  EXPECT_EQ(nodes[0]->is_sent(good), 1);
  EXPECT_EQ(nodes[0]->is_sent(bad), RWAPI_ERR_ADDRESS);
  EXPECT_EQ(nodes[0]->is_sent(far), RWAPI_ERR_RANGE);
  EXPECT_EQ(nodes[0]->is_sent(other), RWAPI_ERR_ADDRESS);
  EXPECT_EQ(nodes[0]->is_sent(last), 1);
  EXPECT_EQ(nodes[0]->is_sent(bad), RWAPI_ERR_ADDRESS) << "as often as it is asked";
}

TEST_F(Nodes, A_block_that_is_freed_under_a_write_is_not_given_to_others_before_its_end) {
  rwapi_net again{};
  const rwapi_sid sid = nodes[0]->write(1, nets[0], nets[1], block_bytes);
  cluster.device(1).progress();
  EXPECT_EQ(nodes[1]->free(blocks[1]), RWAPI_OK);
  void* const next = nodes[1]->allocate(block_bytes, again);
  cluster.settle();
  EXPECT_NE(nodes[0]->is_sent(sid), 0);
  const std::vector<std::byte> zeros(block_bytes);
  EXPECT_EQ(std::memcmp(next, zeros.data(), block_bytes), 0);
  EXPECT_EQ(nodes[0]->write(1, nets[1], nets[1], 1), RWAPI_ERR_ADDRESS) << "not a local one";
  const rwapi_sid stale = nodes[0]->write(1, nets[0], nets[1], 8);
  cluster.settle();
  EXPECT_EQ(nodes[0]->is_sent(stale), RWAPI_ERR_ADDRESS);
}

TEST_F(Nodes, A_death_fails_what_was_under_way_and_nothing_else) {
  const rwapi_sid lost = nodes[0]->write(2, nets[0], nets[2], block_bytes);
  const rwapi_sid kept = nodes[0]->write(1, nets[0], nets[1], block_bytes);
  cluster.network.kill(2);
  for (std::uint32_t id = 0; id < 2; ++id) {
    cluster.device(id).failures().add(2, "killed by the test");
    cluster.device(2).failures().add(id, "the victim is to end as well");
  }
  cluster.network.queue(0, 2).clear();
  cluster.step(300);
  EXPECT_EQ(nodes[0]->is_sent(lost), RWAPI_ERR_FAILED);
  EXPECT_EQ(nodes[0]->is_sent(kept), 1);
  EXPECT_EQ(nodes[0]->send(2, {}), RWAPI_ERR_FAILED);
  EXPECT_EQ(nodes[0]->write(2, nets[0], nets[2], 8), RWAPI_ERR_FAILED);
}

TEST_F(Nodes, What_a_hostile_node_says_does_no_harm) {
  const rwapi_sid sid = nodes[0]->write(2, nets[0], nets[2], 8);
  hostile(wire::RwapiKind::small, wire::bytes_of(std::uint64_t{1}));
  hostile(wire::RwapiKind::received, wire::bytes_of(wire::RwapiReceived{UINT32_MAX}));
  hostile(wire::RwapiKind::refused, wire::bytes_of(wire::RwapiRefused{1, 1, 0}));
  hostile(wire::RwapiKind::refused, wire::bytes_of(wire::RwapiRefused{1, RWAPI_ERR_RANGE, 0}));
  hostile(wire::RwapiKind::ended, wire::bytes_of(wire::RwapiEnded{UINT64_MAX}));
  hostile(wire::RwapiKind::ended, {});
  hostile(static_cast<wire::RwapiKind>(200), {});
  const std::vector<std::byte> payload(block_bytes);
  hostile(wire::RwapiKind::small, {}, payload);
  hostile(wire::RwapiKind::write, {}, payload);
  rwapi_node from = 0;
  rwapi_small message{};
  EXPECT_EQ(nodes[0]->receive(from, message), 0);
  EXPECT_EQ(nodes[0]->is_sent(sid), 1) << "that of node 2";
  for (int i = 0; i < RWAPI_QUEUE + 10; ++i) {
    ASSERT_TRUE(ports[1]->send(0, static_cast<std::uint8_t>(wire::RwapiKind::small),
                               std::as_bytes(std::span(message.data)), {}, nullptr));
  }
  cluster.settle();
  int taken = 0;
  while (nodes[0]->receive(from, message) == 1) ++taken;
  EXPECT_EQ(taken, RWAPI_QUEUE) << "no more than the queue has room for";
}

}  // namespace
}  // namespace fulmar::rwapi
