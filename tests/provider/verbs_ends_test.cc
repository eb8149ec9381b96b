// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "fabric/verbs/verbs.h"
#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"
#include "provider/verbs_net.h"

/// How connections of the network verbs end: by leaving, by dying, by what strangers slip in.
namespace fulmar::fabric {
namespace {

TEST(VerbsEnd, Peer_that_ends_without_a_word_is_lost_once_with_name_port_and_device) {
  VerbsNet net(3);
  std::vector<KeepingSink> sinks(3);
  ASSERT_TRUE(send(net, sinks, 0, 2, 8));
  ASSERT_TRUE(send(net, sinks, 2, 0, 1000));
  net.kill(2);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
  for (unsigned i = 0; i < 200; ++i) net[0].poll(sinks[0]);
  EXPECT_EQ(sinks[0].packets.size(), 1U);  // what had come before is there
  ASSERT_EQ(net.losses(0).size(), 1U);
  EXPECT_EQ(net.losses(0)[0].peer, 2U);
  EXPECT_EQ(net.losses(0)[0].text,
            "lost rank 2 at 10.0.0.3, over verbs on standin0:1: its process has ended; see what it "
            "has printed");
  EXPECT_FALSE(net[0].alive(2));
  EXPECT_TRUE(net[0].alive(1));
  EXPECT_EQ(post(net[0], 2, 8), Post::done);  // dropped
  EXPECT_EQ(net[0].messages().sends().in_use(), 0U);
  EXPECT_EQ(net.wires.queues.size(), 0U);
}

TEST(VerbsEnd, Failed_send_loses_the_peer_with_the_status) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1; }));
  QueueStandIn* const mine = *net.ranks[0]->adapter->queues().begin();
  net.wires.queues.erase(mine->other()->number());  // the network swallows everything
  EXPECT_EQ(post(net[0], 1, 1000), Post::done);
  for (unsigned i = 0; i < 10; ++i) net[0].poll(sinks[0]);
  ASSERT_EQ(net.losses(0).size(), 1U);
  EXPECT_NE(net.losses(0)[0].text.find("standin0:1: status 12; run fulmar doctor"),
            std::string::npos);
  PlacingSink sink;
  Message late{2, pattern(10, 1)};
  ASSERT_TRUE(late.step(net[0], 1));
  net[0].poll(sink);
  EXPECT_EQ(sink.ended.at(late.token(0)), Sent::lost);
}

TEST(VerbsEnd, Broken_queue_and_events_of_the_adapter_lose_whom_they_concern) {
  VerbsNet net(3);
  std::vector<KeepingSink> sinks(3);
  ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(send(net, sinks, 0, 2, 8));
  VerbsStandIn& adapter = *net.ranks[0]->adapter;
  adapter.happen({verbs::Event::Kind::port_down, 0, "port error"});
  adapter.happen({verbs::Event::Kind::port_up, 0, "port active"});
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net.ranks[0]->lines.size() == 2; }));
  EXPECT_NE(net.ranks[0]->lines[0].find("standin0:1 is down"), std::string::npos);
  EXPECT_TRUE(net.losses(0).empty());
  QueueStandIn* const one = *adapter.queues().begin();
  adapter.happen({verbs::Event::Kind::queue_failed, one->number(), "local work queue error"});
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
  ASSERT_EQ(net.losses(0).size(), 1U);
  EXPECT_NE(net.losses(0)[0].text.find("local work queue error"), std::string::npos);
  adapter.happen({verbs::Event::Kind::all_failed, 0, "device fatal"});
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net.losses(0).size() == 2; }));
  EXPECT_NE(net.losses(0)[1].text.find("device fatal"), std::string::npos);

  VerbsNet other(2);
  ASSERT_TRUE(send(other, sinks, 0, 1, 8));
  (*other.ranks[0]->adapter->queues().begin())->break_down();
  EXPECT_EQ(post(other[0], 1, 8), Post::done);
  other[0].poll(sinks[0]);
  ASSERT_EQ(other.losses(0).size(), 1U);
  EXPECT_NE(other.losses(0)[0].text.find("the queue is broken"), std::string::npos);
}

TEST(VerbsEnd, Leaving_loses_nothing_and_is_no_loss) {
  VerbsNet net(3, {.reluctance = 0.2});
  std::vector<KeepingSink> sinks(3);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(send(net, sinks, 0, 1, 1000, i));
  ASSERT_TRUE(send(net, sinks, 2, 0, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[0].packets.size() == 1; }));
  net[0].leave(Leaving::may_return);
  EXPECT_FALSE(net[0].quiesced());
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net[0].quiesced(); }));
  EXPECT_EQ(sinks[1].packets.size(), 100U);
  net[0].end();
  net.kill(0);
  ASSERT_TRUE(send(net, sinks, 1, 2, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[2].packets.size() == 1; }));
  EXPECT_TRUE(net[1].alive(0));
  net[1].leave(Leaving::may_return);
  net[2].leave(Leaving::may_return);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net[1].quiesced() && net[2].quiesced(); }));
  EXPECT_TRUE(net.losses(1).empty());
  EXPECT_TRUE(net.losses(2).empty());
}

TEST(VerbsEnd, All_leave_at_the_same_time) {
  constexpr std::uint32_t size = 5;
  VerbsNet net(size, {.reluctance = 0.3});
  std::vector<KeepingSink> sinks(size);
  for (std::uint32_t a = 0; a < size; ++a) {
    for (std::uint32_t b = 0; b < size; ++b) {
      for (int i = 0; a != b && i < 20; ++i) ASSERT_TRUE(send(net, sinks, a, b, 300, i));
    }
  }
  for (std::uint32_t a = 0; a < size; ++a) net[a].leave(Leaving::may_return);
  // Who has parted goes at once.
  ASSERT_TRUE(poll_until(net, sinks, [&] {
    bool all = true;
    for (std::uint32_t a = 0; a < size; ++a) {
      if (net.ranks[a]->verbs == nullptr) continue;
      all = false;
      if (!net[a].quiesced()) continue;
      EXPECT_TRUE(net.losses(a).empty()) << a << ": " << net.losses(a)[0].text;
      net[a].end();
      net.kill(a);
    }
    return all;
  }));
  for (std::uint32_t a = 0; a < size; ++a) EXPECT_EQ(sinks[a].packets.size(), 80U);
}

TEST(VerbsEnd, Posting_to_a_peer_that_left_is_an_error) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !sinks[1].packets.empty(); }));
  net[1].leave(Leaving::may_return);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net[1].quiesced(); }));
  net[1].end();
  for (unsigned i = 0; i < 200; ++i) net[0].poll(sinks[0]);
  EXPECT_TRUE(net[0].alive(1));
  // But for words about flow, which nobody waits for.
  EXPECT_EQ(net[0].post(1, envelope(0, 0, wire::PacketKind::release), {}), Post::done);
  net[0].poll(sinks[0]);
  EXPECT_TRUE(net.losses(0).empty());
  EXPECT_EQ(post(net[0], 1, 8), Post::done);
  net[0].poll(sinks[0]);
  ASSERT_EQ(net.losses(0).size(), 1U);
  EXPECT_NE(net.losses(0)[0].text.find("rank 1 has left the job"), std::string::npos);
}

TEST(VerbsStrangers, Packets_that_somebody_slips_in_end_the_connection_and_reach_nobody) {
  for (int variant = 0; variant < 8; ++variant) {
    VerbsNet net(2);
    std::vector<KeepingSink> sinks(2);
    ASSERT_TRUE(send(net, sinks, 0, 1, 8));
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1; }));
    // A genuine one is caught on its way and changed.
    ASSERT_EQ(post(net[0], 1, 8), Post::done);
    QueueStandIn* const queue = *net.ranks[1]->adapter->queues().begin();
    ASSERT_EQ(queue->mail.size(), 1U);
    auto& bytes = queue->mail.front().bytes;
    const auto change = [&](std::size_t at) { bytes[at] ^= std::byte{1}; };
    const char* expected = "no packet of it";
    switch (variant) {
      case 0:
        change(0);
        expected = "wrong cookie";
        break;
      case 1:
        change(7);
        expected = "wrong cookie";
        break;
      case 2:
        change(8);
        expected = "wrong number";
        break;
      case 3:
        change(13);
        expected = "taken what was not sent";
        break;
      case 4:
        change(16);
        expected = "a length";
        break;
      case 5:
        bytes[20] = std::byte{99};
        expected = "unknown kind";
        break;
      case 6:
        bytes.resize(31);
        expected = "fewer bytes than a header";
        break;
      case 7:
        bytes.clear();
        break;
    }
    ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(1).empty(); })) << variant;
    EXPECT_NE(net.losses(1)[0].text.find(expected), std::string::npos) << net.losses(1)[0].text;
    EXPECT_EQ(sinks[1].packets.size(), 1U);
  }
}

TEST(VerbsStrangers, Packet_that_comes_twice_is_noticed) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1; }));
  ASSERT_EQ(post(net[0], 1, 8), Post::done);
  auto& mail = (*net.ranks[1]->adapter->queues().begin())->mail;
  QueueStandIn::Mail again;
  again.bytes = mail.front().bytes;
  mail.push_back(again);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(1).empty(); }));
  EXPECT_NE(net.losses(1)[0].text.find("wrong number"), std::string::npos);
  EXPECT_EQ(sinks[1].packets.size(), 2U);
}

TEST(VerbsSleep, Nothing_to_do_lets_sleep_and_something_does_not) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1; }));
  net[1].poll(sinks[1]);
  EXPECT_TRUE(net[1].arm());
  EXPECT_EQ(net[1].next_deadline_ns(), -1);
  ASSERT_EQ(post(net[0], 1, 8), Post::done);
  EXPECT_FALSE(net[1].arm());
  net[1].poll(sinks[1]);
  EXPECT_EQ(sinks[1].packets.size(), 2U);
}

}  // namespace
}  // namespace fulmar::fabric
