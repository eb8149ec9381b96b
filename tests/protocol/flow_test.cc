// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include "protocol/raw_peer.h"

/// Back-pressure, one packet at a time. In these tests the budget is so small that the first
/// unexpected message makes the sender keep the rest.
namespace fulmar::device {
namespace {

using wire::PacketKind;

Device::Config tiny_budget() {
  Device::Config config;
  config.unexpected_budget_bytes = 1;
  return config;
}

/// A sender at port 0 that was asked to hold.
class HeldSender : public ::testing::Test {
 protected:
  HeldSender() { peer.receive(1, PacketKind::hold, std::vector<std::byte>{}); }
  void ask(std::int32_t tag, bool any = false) {
    peer.receive(1, PacketKind::ask, wire::AskBody{any ? 1U : 0U, 0}, tag);
  }
  wire::RtsBody announced() {
    const auto packet = peer.sent(1);
    EXPECT_EQ(packet.envelope.kind, PacketKind::rts);
    last_tag = packet.envelope.tag;
    return RawPeer::body_of<wire::RtsBody>(packet);
  }
  void expect_settled(std::uint64_t order) {
    const auto packet = peer.sent(1);
    EXPECT_EQ(packet.envelope.kind, PacketKind::settled);
    EXPECT_EQ(RawPeer::body_of<wire::SettledBody>(packet).order, order);
  }
  void expect_nothing() { EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::none); }
  void release() { peer.receive(1, PacketKind::release, std::vector<std::byte>{}); }

  RawPeer peer;
  std::int32_t last_tag = 0;
};

TEST_F(HeldSender, Keeps_data_and_envelope) {
  std::byte byte{};
  EXPECT_FALSE(peer.device().send_now({0, 1, 1}, &byte, 1));
  auto send = peer.cluster.send(0, 1, 1, 8);
  EXPECT_EQ(send->stage(), Stage::kept);
  expect_nothing();
  release();
  EXPECT_TRUE(send->done());
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::eager);
}

/// Receive ask(2) with 1 and 2 kept.  Expect: 2 announced early; after ask(1): 1, then settled.
TEST_F(HeldSender, Later_tag_is_announced_early_and_settles_behind_the_older_one) {
  auto first = peer.cluster.send(0, 1, 1, 8);
  auto second = peer.cluster.send(0, 1, 2, 8);
  ask(2);
  const auto early = announced();
  EXPECT_EQ(last_tag, 2);
  EXPECT_EQ(early.flags, wire::rts_early);
  ask(1);
  EXPECT_EQ(announced().flags, 0U);
  EXPECT_EQ(last_tag, 1);
  expect_settled(early.order);
  expect_nothing();
}

TEST_F(HeldSender, Message_of_another_context_makes_nothing_early) {
  auto other = peer.cluster.send(0, 1, 1, 8, 1, SendMode::standard, Layout::dense, 7);
  auto send = peer.cluster.send(0, 1, 2, 8);
  ask(2);
  EXPECT_EQ(announced().flags, 0U);
}

TEST_F(HeldSender, Question_is_remembered_until_a_message_fits) {
  ask(5);
  auto wrong = peer.cluster.send(0, 1, 4, 8);
  EXPECT_EQ(wrong->stage(), Stage::kept);
  auto right = peer.cluster.send(0, 1, 5, 8);
  EXPECT_EQ(right->stage(), Stage::announced);
  EXPECT_EQ(announced().flags, wire::rts_early);
  auto again = peer.cluster.send(0, 1, 5, 8);
  EXPECT_EQ(again->stage(), Stage::kept);  // one question, one message
}

TEST_F(HeldSender, Any_tag_gets_the_oldest) {
  auto first = peer.cluster.send(0, 1, 9, 8);
  auto second = peer.cluster.send(0, 1, 1, 8);
  ask(0, true);
  EXPECT_EQ(announced().flags, 0U);
  EXPECT_EQ(last_tag, 9);
}

TEST_F(HeldSender, Cancel_of_the_older_message_settles_the_early_one) {
  auto first = peer.cluster.send(0, 1, 1, 8);
  auto second = peer.cluster.send(0, 1, 2, 8);
  ask(2);
  const auto early = announced();
  peer.device().cancel(first->operation);
  EXPECT_TRUE(first->done() && first->outcome().cancelled);
  expect_settled(early.order);
}

/// Release, but no room; hold again.  Expect: what was queued is kept again in its old place, and
/// nothing claims to have been sent.
TEST_F(HeldSender, Second_hold_takes_back_what_found_no_room) {
  auto first = peer.cluster.send(0, 1, 1, 8);
  auto second = peer.cluster.send(0, 1, 2, 8);
  ask(2);
  const auto early = announced();
  peer.cluster.network.refuse_posts(1000);
  release();
  EXPECT_EQ(first->stage(), Stage::queued);
  peer.receive(1, PacketKind::hold, std::vector<std::byte>{});
  EXPECT_EQ(first->stage(), Stage::kept);
  peer.cluster.network.refuse_posts(0);
  peer.device().progress();
  expect_nothing();
  release();
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::eager);
  expect_settled(early.order);
  expect_nothing();
}

TEST_F(HeldSender, Question_after_the_release_is_moot) {
  release();
  ask(5);
  auto send = peer.cluster.send(0, 1, 5, 8);
  EXPECT_TRUE(send->done());
}

/// A receiver at port 0 that is over its budget.
class FullReceiver : public ::testing::Test {
 protected:
  FullReceiver() : peer(tiny_budget()) {
    eager(100, 1);
    EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::hold);
  }
  void eager(std::int32_t tag, unsigned char value) {
    peer.receive(1, PacketKind::eager, std::vector<std::byte>{std::byte{value}}, tag);
  }
  void announce(std::int32_t tag, std::uint64_t order, bool early) {
    peer.receive(1, PacketKind::rts,
                 wire::RtsBody{1000 + order, 0, 0, early ? wire::rts_early : 0, 0, order}, tag);
  }
  void settled(std::uint64_t order) {
    peer.receive(1, PacketKind::settled, wire::SettledBody{order});
  }
  /// Expect an answer to the announcement with this order.
  void expect_taken(std::uint64_t order) {
    const auto packet = peer.sent(1);
    EXPECT_EQ(packet.envelope.kind, PacketKind::fin);
    EXPECT_EQ(RawPeer::body_of<wire::CookieBody>(packet).operation, 1000 + order);
  }
  void expect_ask(std::int32_t tag, bool any) {
    const auto packet = peer.sent(1);
    EXPECT_EQ(packet.envelope.kind, PacketKind::ask);
    EXPECT_EQ(packet.envelope.tag, tag);
    EXPECT_EQ(RawPeer::body_of<wire::AskBody>(packet).any_tag, any ? 1U : 0U);
  }
  void expect_nothing() { EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::none); }

  RawPeer peer;
};

TEST_F(FullReceiver, Asks_for_what_it_posts) {
  auto a = peer.cluster.receive(0, 1, 5, 8);
  expect_ask(5, false);
  auto b = peer.cluster.receive(0, match::any_peer, match::any_tag, 8, Layout::dense, 1);
  expect_ask(0, true);
  auto c = peer.cluster.receive(0, 2, 5, 8);
  expect_nothing();  // port 2 holds nothing
  for (Message* message : {a.get(), b.get(), c.get()}) peer.device().cancel(message->operation);
}

TEST_F(FullReceiver, Probe_asks_once) {
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(peer.device().find_arrival({0, 1, 5}), nullptr);
  expect_ask(5, false);
  expect_nothing();
  announce(5, 3, false);
  EXPECT_NE(peer.device().find_arrival({0, 1, 5}), nullptr);
}

TEST_F(FullReceiver, Any_tag_passes_over_an_early_message) {
  auto drop = peer.cluster.receive(0, 1, 100, 8);  // room again: release
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::release);
  announce(2, 7, true);
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::hold);
  EXPECT_EQ(peer.device().find_arrival({0, 1, match::any_tag}), nullptr);
  expect_ask(0, true);
  eager(1, 42);  // older
  auto any = peer.cluster.receive(0, 1, match::any_tag, 8);
  EXPECT_TRUE(any->done());
  EXPECT_EQ(any->outcome().tag, 1);
  auto next = peer.cluster.receive(0, match::any_peer, match::any_tag, 8);
  expect_ask(0, true);
  EXPECT_FALSE(next->done());
  settled(7);
  EXPECT_TRUE(next->done());
  EXPECT_EQ(next->outcome().tag, 2);
  expect_taken(7);
}

/// The message of tag 2 is for `right` once `any` got an older one, and not before.
TEST_F(FullReceiver, Early_message_waits_for_the_receive_of_any_tag_before_its_own) {
  auto room = peer.cluster.receive(0, 1, 100, 8);
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::release);
  auto other = peer.cluster.receive(0, 2, match::any_tag, 8);
  auto any = peer.cluster.receive(0, match::any_peer, match::any_tag, 8);
  auto right = peer.cluster.receive(0, match::any_peer, 2, 8);
  announce(2, 7, true);
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::hold);
  expect_ask(0, true);
  expect_ask(2, false);
  EXPECT_EQ(peer.device().find_arrival({0, 1, 2}), nullptr);
  expect_ask(2, false);  // the probe's
  eager(1, 42);          // older
  EXPECT_EQ(any->outcome().tag, 1);
  EXPECT_TRUE(right->done());
  expect_taken(7);
  peer.device().cancel(other->operation);
}

TEST_F(FullReceiver, Early_message_goes_on_when_the_receive_of_any_tag_is_cancelled) {
  auto room = peer.cluster.receive(0, 1, 100, 8);
  auto any = peer.cluster.receive(0, 1, match::any_tag, 8);
  auto right = peer.cluster.receive(0, 1, 2, 8);
  announce(2, 7, true);
  EXPECT_FALSE(right->done());
  peer.device().cancel(any->operation);
  EXPECT_TRUE(right->done());
  EXPECT_EQ(right->outcome().tag, 2);
}

/// Two of one tag; the second comes in the same poll as the older message that lets the first go.
TEST_F(FullReceiver, Early_messages_of_one_tag_stay_in_order) {
  auto room = peer.cluster.receive(0, 1, 100, 8);
  auto any = peer.cluster.receive(0, 1, match::any_tag, 8);
  auto right = peer.cluster.receive(0, 1, 2, 8);
  announce(2, 7, true);
  for (unsigned i = 0; i < 4; ++i) EXPECT_NE(peer.sent(1).envelope.kind, PacketKind::none);
  peer.deliver(1, PacketKind::eager, std::vector<std::byte>(1), 1);
  peer.deliver(1, PacketKind::rts, std::array{wire::RtsBody{1008, 0, 0, 1, 0, 8}}, 2);
  EXPECT_TRUE(any->done());
  EXPECT_TRUE(right->done());
  expect_taken(7);
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::release);
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::hold);
  auto next = peer.cluster.receive(0, 1, 2, 8);
  EXPECT_TRUE(next->done());
  expect_taken(8);
}

TEST_F(FullReceiver, Who_has_left_and_come_back_is_told_again) {
  eager(101, 2);
  expect_nothing();
  peer.device().forget_hold(1);
  EXPECT_EQ(peer.device().held_senders(), 0U);
  eager(102, 3);
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::hold);
}

/// Three messages of which the last two were announced early, tag 3 twice.
TEST_F(FullReceiver, Settled_messages_take_their_place_in_order) {
  announce(3, 5, true);
  announce(3, 6, true);
  announce(1, 2, false);
  settled(5);
  settled(6);
  for (const std::uint64_t order : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{5}}) {
    auto any = peer.cluster.receive(0, 1, match::any_tag, 8);
    EXPECT_TRUE(any->done());
    if (order != 0) expect_taken(order);
  }
  auto last = peer.cluster.receive(0, 1, 3, 8);
  expect_taken(6);
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::release);
  EXPECT_TRUE(peer.cluster.clean());
}

TEST(Flow, Questions_of_a_hold_go_out_in_the_order_of_the_receives) {
  RawPeer peer(tiny_budget());
  auto any = peer.cluster.receive(0, match::any_peer, 5, 8);
  auto one = peer.cluster.receive(0, 1, match::any_tag, 8, Layout::dense, 3);
  auto two = peer.cluster.receive(0, match::any_peer, 6, 8);
  peer.receive(1, PacketKind::eager, std::vector<std::byte>(4), 9);
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::hold);
  EXPECT_EQ(peer.sent(1).envelope.tag, 5);
  EXPECT_EQ(peer.sent(1).envelope.context, 3U);
  EXPECT_EQ(peer.sent(1).envelope.tag, 6);
}

/// Many messages and the last tag is received first; nothing would ever make room.
TEST(Flow, Last_of_a_flood_can_be_received_first) {
  for (const std::uint32_t source : {0U, match::any_peer}) {
    Cluster cluster(2, tiny_budget());
    std::vector<std::unique_ptr<Message>> sends;
    for (int i = 0; i < 200; ++i) sends.push_back(cluster.send(0, 1, i, 64, 1U + unsigned(i)));
    cluster.step(3);
    for (int i = 199; i > 100; --i) {
      auto receive = cluster.receive(1, source, i, 64);
      cluster.settle();
      ASSERT_TRUE(receive->done()) << i;
      EXPECT_TRUE(holds(*receive, 1U + unsigned(i), 64));
    }
    for (int i = 0; i <= 100; ++i) {
      auto receive = cluster.receive(1, 0, match::any_tag, 64);
      cluster.settle();
      ASSERT_TRUE(receive->done()) << i;
      EXPECT_EQ(receive->outcome().tag, i);
    }
    EXPECT_TRUE(cluster.clean());
  }
}

TEST(Flow, Flood_stays_within_the_budget) {
  Device::Config config;
  config.unexpected_budget_bytes = 10000;
  Cluster cluster(3, config);
  std::vector<std::unique_ptr<Message>> sends;
  for (unsigned i = 0; i < 500; ++i) {
    sends.push_back(cluster.send(i % 2, 2, 1, 1000));
    cluster.step();
    // What was on its way when the hold was sent still comes.
    ASSERT_LT(cluster.device(2).unexpected_bytes(), 10000 + 4 * 1200);
  }
  std::vector<std::unique_ptr<Message>> receives;
  for (unsigned i = 0; i < 500; ++i) receives.push_back(cluster.receive(2, i % 2, 1, 1000));
  cluster.settle();
  for (const auto& receive : receives) ASSERT_TRUE(receive->done());
  EXPECT_TRUE(cluster.clean());
}

}  // namespace
}  // namespace fulmar::device
