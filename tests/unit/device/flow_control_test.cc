// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/flow/flow_control.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "fabric/fake/fake.h"

namespace fulmar::device {
namespace {

using wire::PacketKind;

/// Flow control at port 0 of a network of three, without a device.
class Flow : public ::testing::Test {
 protected:
  struct Announcement {
    std::int32_t tag;
    bool early;
    friend bool operator==(const Announcement&, const Announcement&) = default;
  };

  Flow() {
    transports.use(port);
    peers.grow(3);
  }
  void take(std::uint32_t from, PacketKind kind, std::span<const std::byte> body = {},
            std::uint32_t context = 0, std::int32_t tag = 0) {
    const wire::Envelope envelope{kind, 0, context, tag, static_cast<std::uint32_t>(body.size())};
    handlers.take({from, envelope, fabric::Body(body)});
  }
  void asked_for(std::int32_t tag) {
    take(1, PacketKind::ask, wire::bytes_of(wire::AskBody{0, 0}), 0, tag);
  }
  Operation& keep(std::int32_t tag) {
    Operation& send = sends.emplace_back();
    send.posted.key = {0, 1, tag};
    send.peer = &peers.connect(1);
    flow.keep(send);
    return send;
  }
  std::vector<PacketKind> sent(std::uint32_t to) {
    std::vector<PacketKind> kinds;
    for (const auto& packet : network.queue(0, to)) kinds.push_back(packet.envelope.kind);
    network.queue(0, to).clear();
    return kinds;
  }

  fabric::FakeNetwork network{3};
  fabric::Fake port{network, 0};
  Config config{.self = 0, .size = 3, .unexpected_budget_bytes = 0};
  Transports transports;
  Stats stats;
  PeerTable peers{transports};
  PacketHandlers handlers{peers, stats.counters().malformed};
  match::Matcher matcher;
  ArrivalPool arrivals;
  std::vector<std::int32_t> posted;  ///< tags of messages that left from the queue
  std::vector<Announcement> announced;
  Outbox outbox{transports,
                peers,
                nullptr,
                {this,
                 [](void* self, Operation& send) noexcept {
                   static_cast<Flow*>(self)->posted.push_back(send.key().tag);
                   return fabric::Post::done;
                 },
                 [](void*) noexcept {}}};
  FlowControl flow{{config, outbox, peers, matcher, arrivals, stats},
                   handlers,
                   {this,
                    [](void* self, Operation& send, bool early) noexcept {
                      static_cast<Flow*>(self)->announced.push_back({send.key().tag, early});
                      send.stage = Stage::announced;
                      return wire::RtsBody{1, 0, 8, 0, 0, send.order};
                    },
                    [](void*) noexcept {}}};
  std::deque<Operation> sends;
};
class FlowControlTest : public Flow {};

TEST_F(FlowControlTest, Kept_messages_leave_in_order_when_the_peer_releases) {
  take(1, PacketKind::hold);
  ASSERT_TRUE(peers.find(1)->holds);
  EXPECT_EQ(keep(7).stage, Stage::kept);
  EXPECT_EQ(keep(8).stage, Stage::kept);
  take(1, PacketKind::release);
  EXPECT_FALSE(peers.find(1)->holds);
  outbox.flush();
  EXPECT_EQ(posted, (std::vector<std::int32_t>{7, 8}));
}

TEST_F(FlowControlTest, Messages_that_were_queued_are_kept_too) {
  Operation& send = sends.emplace_back();
  send.posted.key = {0, 1, 5};
  send.peer = &peers.connect(1);
  send.kind = Outgoing::Kind::message;
  send.stage = Stage::queued;
  outbox.enqueue(*send.peer, send);
  take(1, PacketKind::hold);
  EXPECT_EQ(send.stage, Stage::kept);
  outbox.flush();
  EXPECT_TRUE(posted.empty());
}

TEST_F(FlowControlTest,
       A_message_that_is_asked_for_overtakes_and_is_settled_when_nothing_older_is_kept) {
  take(1, PacketKind::hold);
  Operation& older = keep(7);
  keep(8);
  asked_for(8);
  EXPECT_EQ(announced, (std::vector<Announcement>{{8, true}}));
  EXPECT_EQ(sent(1), std::vector{PacketKind::rts});
  asked_for(7);
  EXPECT_EQ(announced.back(), (Announcement{7, false}));
  EXPECT_EQ(older.stage, Stage::announced);
  EXPECT_EQ(sent(1), (std::vector{PacketKind::rts, PacketKind::settled}));
}

TEST_F(FlowControlTest, A_question_waits_for_its_message_and_is_answered_once) {
  take(1, PacketKind::hold);
  asked_for(9);
  EXPECT_TRUE(announced.empty());
  EXPECT_EQ(keep(8).stage, Stage::kept);
  EXPECT_EQ(keep(9).stage, Stage::announced);
  EXPECT_EQ(keep(9).stage, Stage::kept);
  EXPECT_EQ(announced, (std::vector<Announcement>{{9, true}}));
}

TEST_F(FlowControlTest, A_withdrawn_message_settles_what_is_younger) {
  take(1, PacketKind::hold);
  Operation& older = keep(7);
  keep(8);
  asked_for(8);
  sent(1);
  EXPECT_TRUE(flow.withdraw(older));
  EXPECT_EQ(sent(1), std::vector{PacketKind::settled});
  EXPECT_FALSE(flow.withdraw(older));
}

TEST_F(FlowControlTest, Holding_a_sender_asks_it_for_what_is_posted) {
  Operation mine;
  mine.posted.key = {0, 2, 3};
  matcher.post(mine.posted);
  Operation other;
  other.posted.key = {0, 1, 3};
  matcher.post(other.posted);
  flow.hold_sender(peers.connect(2));
  EXPECT_TRUE(flow.holds_senders());
  EXPECT_EQ(sent(2), (std::vector{PacketKind::hold, PacketKind::ask}));
  EXPECT_TRUE(sent(1).empty());
  flow.hold_sender(peers.connect(2));
  EXPECT_TRUE(sent(2).empty()) << "told already";
  EXPECT_EQ(stats.counters().holds, 1U);
  flow.ask_senders({0, match::any_peer, 4});
  EXPECT_EQ(sent(2), std::vector{PacketKind::ask});
  flow.release_senders();
  EXPECT_EQ(sent(2), std::vector{PacketKind::release});
  EXPECT_FALSE(flow.holds_senders());
  matcher.remove(mine.posted);
  matcher.remove(other.posted);
}

TEST_F(FlowControlTest, A_probe_asks_once) {
  flow.hold_sender(peers.connect(2));
  sent(2);
  for (unsigned i = 0; i < 3; ++i) flow.ask_for_probe({0, 2, 4});
  EXPECT_EQ(sent(2), std::vector{PacketKind::ask});
  flow.forget_hold(peers.connect(2));
  EXPECT_FALSE(flow.holds_senders());
  flow.ask_for_probe({0, 2, 4});
  EXPECT_TRUE(sent(2).empty());
}

TEST_F(FlowControlTest, Senders_are_held_while_more_than_half_of_the_budget_is_used) {
  config.unexpected_budget_bytes = 1000;
  Arrival* arrival = arrivals.make(4000);
  ASSERT_NE(arrival, nullptr);
  flow.hold_sender(peers.connect(2));
  flow.release_senders();
  EXPECT_TRUE(flow.holds_senders());
  arrivals.free(arrival);
  flow.release_senders();
  EXPECT_FALSE(flow.holds_senders());
}

}  // namespace
}  // namespace fulmar::device
