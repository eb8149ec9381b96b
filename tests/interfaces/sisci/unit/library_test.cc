// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "sisci/library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "interfaces/device_port.h"
#include "protocol/cluster.h"
#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/connections.h"
#include "sisci/grants.h"
#include "sisci/transfers.h"
#include "wire/packets.h"

namespace fulmar::sisci {
namespace {

using State = Connection::State;

constexpr std::size_t segment_bytes = 100'000;

/// A node with one segment of number 1, and what guards it against writes beyond its end.
struct Node {
  Node() : memory(segment_bytes + 64) {}
  void attach(device::Device& device) {
    port =
        std::make_unique<interfaces::DevicePort>(device, interfaces::PortId::sisci, library.frames);
    sisci::attach(library, *port);
    port->start();
    descriptor = &library.descriptors.make(nullptr);
    segment = &make(library.local_segments, *descriptor);
    segment->id = 1;
    segment->bytes = segment_bytes;
    segment->base = memory.data();
    segment->is_prepared = segment->is_available = true;
  }
  RemoteSegment& connect(std::uint32_t rank, std::uint32_t number = 1) {
    RemoteSegment& made = make(library.remote_segments, *descriptor);
    made.owner = &made;
    EXPECT_TRUE(ask(library, made, rank, wire::SisciObject::segment, number));
    return made;
  }
  std::vector<std::byte> memory;
  Library library;
  std::unique_ptr<interfaces::DevicePort> port;
  Descriptor* descriptor = nullptr;
  LocalSegment* segment = nullptr;
};

/// Nodes on a network that does nothing by itself: what goes to another host.
class Nodes3 : public ::testing::Test {
 protected:
  static constexpr std::uint32_t count = 3;
  Nodes3() : cluster(count), nodes(count) {
    for (std::uint32_t id = 0; id < count; ++id) nodes[id].attach(cluster.device(id));
  }
  ~Nodes3() override {
    cluster.settle();
    for (Node& node : nodes) node.port->stop(interfaces::Port::Leaving::together);
  }
  /// A frame of node 1 to node 0, as a broken or hostile node might send it.
  void hostile(wire::SisciKind kind, std::span<const std::byte> header,
               std::span<const std::byte> payload = {}) {
    ASSERT_TRUE(nodes[1].port->send(0, static_cast<std::uint8_t>(kind), header, payload, nullptr));
    cluster.settle();
  }
  void write(const wire::SisciTransfer& request, std::size_t bytes) {
    const std::vector<std::byte> payload(bytes, std::byte{9});
    hostile(wire::SisciKind::write, wire::bytes_of(request), payload);
  }
  [[nodiscard]] bool is_untouched(std::uint32_t id) const {
    return std::ranges::all_of(nodes[id].memory,
                               [](std::byte each) { return each == std::byte{}; });
  }

  device::Cluster cluster;
  std::vector<Node> nodes;
};

TEST_F(Nodes3, A_connection_has_a_grant_and_its_end_is_told) {
  RemoteSegment& remote = nodes[0].connect(1);
  EXPECT_FALSE(is_settled(remote));
  cluster.settle();
  EXPECT_EQ(remote.state, State::connected);
  EXPECT_EQ(remote.bytes, segment_bytes);
  EXPECT_EQ(remote.base, nullptr) << "another host";
  EXPECT_EQ(nodes[1].segment->grants, 1U);
  ASSERT_EQ(nodes[1].segment->events.queue.size(), 1U);
  EXPECT_EQ(nodes[1].segment->events.queue[0].reason, SCI_CB_CONNECT);
  close(nodes[0].library, remote);
  cluster.settle();
  EXPECT_EQ(nodes[1].segment->grants, 0U);
  EXPECT_EQ(nodes[1].segment->events.queue.back().reason, SCI_CB_DISCONNECT);
}

TEST_F(Nodes3, A_node_with_too_many_connections_to_another_one_is_refused_more) {
  nodes[1].library.peers[0].grants = most_grants;
  const RemoteSegment& refused = nodes[0].connect(1);
  const RemoteSegment& other = nodes[2].connect(1);
  cluster.settle();
  EXPECT_EQ(refused.status, SCI_ERR_CONNECTION_REFUSED);
  EXPECT_EQ(other.status, SCI_ERR_OK);
  nodes[1].library.peers[0].grants = 0;
}

TEST_F(Nodes3, A_segment_that_is_not_available_is_not_found) {
  nodes[1].segment->is_available = false;
  const RemoteSegment& hidden = nodes[0].connect(1);
  const RemoteSegment& unknown = nodes[0].connect(2, 99);
  cluster.settle();
  EXPECT_EQ(hidden.status, SCI_ERR_NO_SUCH_SEGMENT);
  EXPECT_EQ(unknown.status, SCI_ERR_NO_SUCH_SEGMENT);
}

TEST_F(Nodes3, An_answer_that_comes_after_the_end_of_the_wait_gives_the_grant_back) {
  RemoteSegment& remote = nodes[0].connect(1);
  close(nodes[0].library, remote);
  cluster.settle();
  EXPECT_EQ(nodes[1].segment->grants, 0U);
}

TEST_F(Nodes3, Transfers_arrive_and_say_so) {
  RemoteSegment& remote = nodes[0].connect(1);
  cluster.settle();
  std::vector<std::byte> sent(segment_bytes, std::byte{7});
  TransferGroup group;
  (void)start_write(nodes[0].library, remote, 0, sent, 0, group);
  EXPECT_EQ(group.under_way, 1U);
  cluster.settle();
  EXPECT_EQ(group.under_way, 0U);
  EXPECT_EQ(group.status, SCI_ERR_OK);
  EXPECT_EQ(nodes[1].memory[segment_bytes - 1], std::byte{7});
  EXPECT_EQ(nodes[1].memory[segment_bytes], std::byte{0});
  std::vector<std::byte> got(500);
  start_read(nodes[0].library, remote, 99, got, group);
  cluster.settle();
  EXPECT_EQ(group.status, SCI_ERR_OK);
  EXPECT_EQ(got[499], std::byte{7});
  EXPECT_EQ(nodes[1].segment->uses, 0U);
}

TEST_F(Nodes3, An_aborted_read_leaves_its_memory_alone) {
  RemoteSegment& remote = nodes[0].connect(1);
  cluster.settle();
  std::ranges::fill(nodes[1].memory, std::byte{7});
  std::vector<std::byte> got(segment_bytes);
  TransferGroup group;
  start_read(nodes[0].library, remote, 0, got, group);
  group.is_aborted = true;
  cluster.settle();
  EXPECT_EQ(group.status, SCI_ERR_CANCELLED);
  EXPECT_EQ(group.under_way, 0U);
  EXPECT_EQ(got[0], std::byte{0});
}

TEST_F(Nodes3, A_forged_grant_gives_no_access) {
  const RemoteSegment& remote = nodes[1].connect(0);
  cluster.settle();
  const wire::SisciTransfer good{remote.grant, 0, 8, 1, 0, 0};
  wire::SisciTransfer forged = good;
  forged.grant.seal ^= 1;
  write(forged, 8);
  forged = good;
  ++forged.grant.handle;
  write(forged, 8);
  forged = good;
  forged.grant.handle += std::uint64_t{1} << 32;
  write(forged, 8);
  forged = good;
  forged.offset = segment_bytes - 7;
  write(forged, 8);
  forged = good;
  forged.offset = UINT64_MAX - 3;
  write(forged, 8);
  forged = good;
  forged.bytes = 16;
  write(forged, 8);
  EXPECT_TRUE(is_untouched(0));
  // The grant of another node.
  const RemoteSegment& others = nodes[2].connect(0);
  cluster.settle();
  forged = good;
  forged.grant = others.grant;
  write(forged, 8);
  EXPECT_TRUE(is_untouched(0));
  write(good, 8);
  EXPECT_FALSE(is_untouched(0)) << "so that the others can have been wrong";
}

TEST_F(Nodes3, A_grant_that_was_taken_back_is_stale) {
  RemoteSegment& remote = nodes[1].connect(0);
  cluster.settle();
  end_grants(nodes[0].library, *nodes[0].segment, wire::SisciEnd::forced);
  write({remote.grant, 0, 8, 1, 0, 0}, 8);
  EXPECT_TRUE(is_untouched(0));
  EXPECT_EQ(remote.state, State::ended);
  EXPECT_EQ(check_connected(remote), SCI_ERR_SEGMENT_NOT_CONNECTED);
  ASSERT_EQ(remote.events.queue.size(), 1U);
  EXPECT_EQ(remote.events.queue[0].reason, SCI_CB_DISCONNECT);
  // Its place has another generation.
  const RemoteSegment& next = nodes[1].connect(0);
  cluster.settle();
  EXPECT_NE(next.grant.handle, remote.grant.handle);
  write({remote.grant, 0, 8, 1, 0, 0}, 8);
  EXPECT_TRUE(is_untouched(0));
}

TEST_F(Nodes3, A_death_fails_what_was_under_way_and_nothing_else) {
  RemoteSegment& dead = nodes[0].connect(2);
  RemoteSegment& living = nodes[0].connect(1);
  (void)nodes[2].connect(0);
  cluster.settle();
  std::vector<std::byte> sent(segment_bytes, std::byte{7});
  std::vector<std::byte> got(segment_bytes);
  TransferGroup lost_write;
  TransferGroup lost_read;
  TransferGroup kept;
  (void)start_write(nodes[0].library, dead, 0, sent, 0, lost_write);
  start_read(nodes[0].library, dead, 0, got, lost_read);
  (void)start_write(nodes[0].library, living, 0, sent, 0, kept);
  RemoteSegment& pending = nodes[0].connect(2);
  cluster.network.kill(2);
  for (std::uint32_t id = 0; id < 2; ++id) {
    cluster.device(id).failures().add(2, "killed by the test");
    cluster.device(2).failures().add(id, "the victim is to end as well");
  }
  cluster.network.queue(0, 2).clear();
  cluster.step(300);
  EXPECT_EQ(lost_write.under_way, 0U);
  EXPECT_EQ(lost_write.status, SCI_ERR_TRANSFER_FAILED);
  EXPECT_EQ(lost_read.under_way, 0U);
  EXPECT_EQ(lost_read.status, SCI_ERR_TRANSFER_FAILED);
  EXPECT_EQ(kept.status, SCI_ERR_OK);
  EXPECT_EQ(dead.state, State::lost);
  EXPECT_EQ(dead.events.queue.back().reason, SCI_CB_LOST);
  EXPECT_EQ(pending.status, SCI_ERR_NODE_NOT_RESPONDING);
  EXPECT_EQ(living.state, State::connected);
  EXPECT_EQ(nodes[0].segment->grants, 0U);
  EXPECT_EQ(nodes[0].segment->events.queue.back().reason, SCI_CB_LOST);
}

TEST_F(Nodes3, What_a_hostile_node_says_does_no_harm) {
  RemoteSegment& remote = nodes[0].connect(2);
  cluster.settle();
  std::vector<std::byte> got(64, std::byte{3});
  TransferGroup group;
  start_read(nodes[0].library, remote, 0, got, group);
  const std::uint64_t number = nodes[0].library.last_transfer;
  const std::vector<std::byte> payload(64, std::byte{9});
  // Node 1 answers what node 2 was asked.
  hostile(wire::SisciKind::data, wire::bytes_of(wire::SisciDone{number, 0, 0}), payload);
  EXPECT_EQ(got[0], std::byte{0}) << "that of node 2";
  EXPECT_EQ(group.status, SCI_ERR_OK);
  hostile(wire::SisciKind::done, wire::bytes_of(wire::SisciDone{UINT64_MAX, 0, 0}));
  hostile(wire::SisciKind::done, {});
  hostile(wire::SisciKind::connect,
          wire::bytes_of(wire::SisciConnect{1, static_cast<wire::SisciObject>(77), 1}));
  hostile(wire::SisciKind::connect, {}, payload);
  hostile(wire::SisciKind::connected,
          wire::bytes_of(wire::SisciConnected{remote.request, 1, 1, UINT64_MAX, 0, 1}));
  hostile(wire::SisciKind::ended,
          wire::bytes_of(wire::SisciEnded{remote.request, wire::SisciEnd::forced, 0}));
  hostile(wire::SisciKind::disconnect, wire::bytes_of(wire::SisciGrant{0, 0}));
  hostile(wire::SisciKind::trigger, wire::bytes_of(wire::SisciGrant{UINT64_MAX, 0}));
  hostile(static_cast<wire::SisciKind>(200), {}, payload);
  EXPECT_EQ(remote.state, State::connected) << "that is between node 0 and node 2";
  EXPECT_EQ(remote.bytes, segment_bytes);
  EXPECT_TRUE(is_untouched(0));
  for (std::uint32_t i = 0; i < 10; ++i) {
    hostile(wire::SisciKind::connect,
            wire::bytes_of(wire::SisciConnect{i, wire::SisciObject::attached_segment, 1}));
  }
  EXPECT_EQ(nodes[0].segment->grants, 0U) << "a process of another host attaches nothing";
}

TEST(Conditional_counter, More_triggers_than_the_counter_holds_is_an_error) {
  Library library;
  device::Cluster cluster(1);
  interfaces::DevicePort port(cluster.device(0), interfaces::PortId::sisci, library.frames);
  attach(library, port);
  LocalInterrupt& interrupt = library.interrupts.make(nullptr);
  interrupt.is_conditional = true;
  interrupt.counter.triggers = ConditionalCounter::most;
  current() = &library;
  const auto handle = reinterpret_cast<sci_local_interrupt_t>(&interrupt);
  unsigned int triggers = 0;
  sci_error_t error = SCI_ERR_SYSTEM;
  SCIGetConditionalInterruptTrigCounter(handle, &triggers, 0, &error);
  EXPECT_EQ(error, SCI_ERR_OK);
  EXPECT_EQ(triggers, UINT32_MAX);
  ++interrupt.counter.triggers;
  SCIGetConditionalInterruptTrigCounter(handle, &triggers, 0, &error);
  EXPECT_EQ(error, SCI_ERR_OVERFLOW);
  current() = nullptr;
}

}  // namespace
}  // namespace fulmar::sisci
