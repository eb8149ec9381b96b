// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/flow/outbox.h"

#include <gtest/gtest.h>

#include <vector>

#include "fabric/fake/fake.h"

namespace fulmar::device {
namespace {

using fabric::Post;
using wire::PacketKind;

/// An outbox of port 0 on a network of three, and what it asks for.
class Sending : public ::testing::Test {
 protected:
  Sending() {
    transports.use(port);
    peers.grow(3);
  }
  void control(std::uint32_t to, PacketKind kind) {
    outbox.send_control(peers.connect(to), kind, {4, to, 2}, {});
  }
  void message(std::uint32_t to, Operation& send) {
    send.peer = &peers.connect(to);
    send.kind = Outgoing::Kind::message;
    outbox.enqueue(*send.peer, send);
  }
  std::vector<PacketKind> sent(std::uint32_t to) {
    std::vector<PacketKind> kinds;
    for (const auto& packet : network.queue(0, to)) kinds.push_back(packet.envelope.kind);
    return kinds;
  }

  fabric::FakeNetwork network{3};
  fabric::Fake port{network, 0};
  Transports transports;
  PeerTable peers{transports};
  unsigned stirs = 0;
  /// Messages are posted as empty eager packets.
  Outbox outbox{transports,
                peers,
                nullptr,
                {this,
                 [](void* self, Operation& send) noexcept {
                   auto& test = *static_cast<Sending*>(self);
                   return test.port.post(send.peer->id, {PacketKind::eager, 0, 0, 0, 0}, {});
                 },
                 [](void* self) noexcept { ++static_cast<Sending*>(self)->stirs; }}};
};
class OutboxTest : public Sending {};

TEST_F(OutboxTest, Control_packet_leaves_at_once_if_there_is_room) {
  control(1, PacketKind::hold);
  EXPECT_EQ(sent(1), std::vector{PacketKind::hold});
  EXPECT_EQ(network.queue(0, 1).front().envelope.context, 4U);
  EXPECT_EQ(network.queue(0, 1).front().envelope.tag, 2);
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(stirs, 0U);
}

TEST_F(OutboxTest, What_finds_no_room_leaves_later_in_order) {
  network.refuse_posts(1);
  control(1, PacketKind::hold);
  EXPECT_EQ(stirs, 1U);
  Operation send;
  message(1, send);
  control(1, PacketKind::release);
  EXPECT_EQ(stirs, 1U) << "once for a peer";
  EXPECT_TRUE(sent(1).empty()) << "nothing overtakes";
  ASSERT_EQ(outbox.backlog().size(), 1U);
  EXPECT_EQ(outbox.backlog()[0], peers.find(1));
  EXPECT_EQ(outbox.flush(), 1U);
  EXPECT_EQ(sent(1), (std::vector{PacketKind::hold, PacketKind::eager, PacketKind::release}));
  EXPECT_TRUE(outbox.empty());
}

TEST_F(OutboxTest, A_peer_without_room_does_not_stop_another) {
  network.refuse_posts(2);
  control(1, PacketKind::hold);
  control(2, PacketKind::release);
  network.refuse_posts(1);  // the next one is to peer 1
  EXPECT_EQ(outbox.flush(), 1U);
  EXPECT_TRUE(sent(1).empty());
  EXPECT_EQ(sent(2), std::vector{PacketKind::release});
  EXPECT_EQ(outbox.backlog().size(), 1U);
}

TEST_F(OutboxTest, A_message_that_is_refused_keeps_its_place) {
  Operation send;
  message(1, send);
  control(1, PacketKind::hold);
  network.refuse_posts(1);
  EXPECT_EQ(outbox.flush(), 0U);
  EXPECT_EQ(peers.find(1)->queue.first, &send);
  outbox.flush();
  EXPECT_EQ(sent(1), (std::vector{PacketKind::eager, PacketKind::hold}));
}

/// Found by the leak checker if not.
TEST_F(OutboxTest, Packets_that_never_left_are_freed) {
  network.refuse_posts(1);
  control(1, PacketKind::hold);
  EXPECT_FALSE(outbox.empty());
}

}  // namespace
}  // namespace fulmar::device
