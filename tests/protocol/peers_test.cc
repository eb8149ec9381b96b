// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include "protocol/cluster.h"

/// Processes that become known while the device is in use.
namespace fulmar::device {
namespace {

struct End {
  End(fabric::FakeNetwork& network, std::uint32_t self, std::uint32_t size)
      : port(network, self), device({.self = self, .size = size}, lock) {
    lock.set_enabled(false);
    device.use(port);
  }
  base::EngineLock lock;
  fabric::Fake port;
  Device device;
};

TEST(Peers, Processes_of_another_job_can_be_sent_to_once_they_are_known) {
  fabric::FakeNetwork network(1000);
  End parent(network, 0, 2);
  End child(network, 900, 1000);
  EXPECT_EQ(parent.device.processes().size(), 2U);
  EXPECT_EQ(parent.device.processes().id_of({1, 1}), 1U);
  ASSERT_EQ(parent.device.add_job(2, 998, {}), 2U);
  const auto id = parent.device.processes().id_of({2, 898});
  ASSERT_EQ(id, 900U);

  const std::uint64_t out = 42;
  EXPECT_FALSE(parent.device.send_now({0, *id, 7}, &out, sizeof out))
      << "not through shared memory";
  Operation send;
  send.posted.key = {0, *id, 7};
  send.buffer = {const_cast<std::uint64_t*>(&out), sizeof out, nullptr};
  parent.device.start_send(send);
  std::uint64_t in = 0;
  Operation receive;
  receive.posted.key = {0, 0, 7};
  receive.buffer = {&in, sizeof in, nullptr};
  child.device.start_receive(receive);
  child.device.wait_done(receive);
  EXPECT_EQ(in, out);
  EXPECT_TRUE(send.done());
  EXPECT_EQ(parent.device.connected_peers(), 1U);
}

/// The process at the other end may be known there first.
TEST(Peers, A_message_from_a_process_that_is_not_known_yet_waits_for_its_receive) {
  fabric::FakeNetwork network(10);
  End parent(network, 0, 2);
  End child(network, 9, 10);
  const std::uint64_t out = 43;
  Operation send;
  send.posted.key = {0, 0, 7};
  send.mode = SendMode::synchronous;
  send.buffer = {const_cast<std::uint64_t*>(&out), sizeof out, nullptr};
  child.device.start_send(send);
  parent.device.progress();
  ASSERT_EQ(parent.device.add_job(2, 8, {}), 2U);
  std::uint64_t in = 0;
  Operation receive;
  receive.posted.key = {0, 9, 7};
  receive.buffer = {&in, sizeof in, nullptr};
  parent.device.start_receive(receive);
  EXPECT_TRUE(receive.done());
  child.device.wait_done(send);
  EXPECT_EQ(in, out);
}

/// The two know each other, and the one that failed, by different ids.
TEST(Peers, A_failure_is_reported_by_name) {
  fabric::FakeNetwork network(5);
  std::vector<std::uint32_t> heard;
  Device::Config config;
  config.failures.context = &heard;
  config.failures.reported = [](void* to, std::uint32_t peer, std::uint32_t) {
    static_cast<std::vector<std::uint32_t>*>(to)->push_back(peer);
  };
  base::EngineLock lock;
  lock.set_enabled(false);
  // Rank 0 of job 1, and rank 1 of job 2, whose rank 0 has failed: there its id is 0, here it is 3.
  fabric::Fake near(network, 0);
  fabric::Fake far(network, 4);
  config.size = 3;
  config.processes = std::make_shared<fabric::ProcessTable>(wire::ProcessName{1, 0}, 3U);
  Device hears(config, lock);
  hears.use(near);
  ASSERT_EQ(hears.add_job(2, 2, {}), 3U);
  config.self = 1;
  config.size = 2;
  config.failures = {};
  config.processes = std::make_shared<fabric::ProcessTable>(wire::ProcessName{2, 1}, 2U);
  Device tells(config, lock);
  tells.use(far);
  ASSERT_EQ(tells.add_job(1, 3, {}), 2U);
  // The fake network numbers its ports for both: what `tells` calls 2 is port 2.
  tells.failures().report(2, 0);
  ASSERT_EQ(network.queue(4, 2).size(), 1U);
  network.queue(4, 0).push_back(network.queue(4, 2).front());
  network.queue(4, 2).clear();
  hears.progress();
  EXPECT_EQ(heard, std::vector<std::uint32_t>{3});
}

/// A layer above adds packets of its own: nothing in the device knows their kind.
TEST(Peers, A_handler_of_a_layer_above_gets_the_packets_of_its_kind) {
  struct Layer {
    void take(Peer& from, const wire::SettledBody& body) noexcept {
      peer = from.id;
      value = body.order;
    }
    std::uint32_t peer = 0;
    std::uint64_t value = 0;
  } layer;
  fabric::FakeNetwork network(3);
  End end(network, 0, 3);
  ASSERT_FALSE(end.device.handlers().has(wire::PacketKind::pipe_card));
  end.device.handlers().add<&Layer::take>(wire::PacketKind::pipe_card, layer);
  const wire::SettledBody body{77};
  const auto bytes = wire::bytes_of(body);
  network.queue(2, 0).push_back({{wire::PacketKind::pipe_card, 0, 0, 0, sizeof body},
                                 std::vector<std::byte>(bytes.begin(), bytes.end())});
  end.device.progress();
  EXPECT_EQ(layer.peer, 2U);
  EXPECT_EQ(layer.value, 77U);
  EXPECT_EQ(end.device.counters().malformed, 0U);
}

}  // namespace
}  // namespace fulmar::device
