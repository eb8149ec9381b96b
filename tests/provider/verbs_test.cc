// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/verbs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"
#include "provider/verbs_net.h"
#include "wire/verbs/verbs_address.h"
#include "wire/verbs/verbs_packet.h"

/// What is made of connected queues, over adapters that stand in for those of libibverbs. The real
/// ones are in verbs_device_test.cc.
namespace fulmar::fabric {
namespace {

TEST(VerbsPost, Every_length_travels_whatever_the_adapter_can_do) {
  const std::size_t lengths[] = {
      0, 1, 48, 187, 188, 189, 2015, 2016, 2017, 16351, Verbs::max_body_bytes};
  for (const std::size_t inline_bytes : {0, 64, 220, 4096}) {
    VerbsNet net(2, {.inline_bytes = inline_bytes});
    std::vector<KeepingSink> sinks(2);
    int tag = 0;
    for (const std::size_t bytes : lengths) ASSERT_TRUE(send(net, sinks, 0, 1, bytes, tag++));
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == unsigned(tag); }));
    for (int i = 0; i < tag; ++i) {
      const auto& packet = sinks[1].packets[std::size_t(i)];
      EXPECT_EQ(packet.envelope.tag, i);
      EXPECT_EQ(packet.body, pattern(lengths[i], unsigned(i)));
    }
    EXPECT_EQ(net[0].messages().counters().inline_sends != 0, inline_bytes != 0);
  }
}

TEST(VerbsPost, Sender_to_one_that_does_not_look_stops_at_the_window_and_loses_nothing) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send(net, sinks, 0, 1, 8, 0));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1; }));
  unsigned posted = 1;
  while (post(net[0], 1, 8, static_cast<int>(posted)) == Post::done) {
    ++posted;
    net[0].poll(sinks[0]);
  }
  EXPECT_EQ(posted, verbs::Messages::window);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == posted; }));
  for (unsigned i = 0; i < posted; ++i) {
    EXPECT_EQ(sinks[1].packets[i].envelope.tag, static_cast<int>(i));
  }
  EXPECT_TRUE(send(net, sinks, 0, 1, 8));
}

TEST(VerbsPost, What_was_taken_is_told_now_and_then_and_costs_nothing_with_traffic_both_ways) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  for (int i = 0; i < 640; ++i) ASSERT_TRUE(send(net, sinks, 0, 1, 8, i));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 640; }));
  const std::uint64_t told = net[1].messages().counters().credits;
  EXPECT_GE(told, 640 / verbs::Messages::window);
  EXPECT_LE(told, 1 + 640 / verbs::Messages::ack_interval);
  for (unsigned i = 0; i < 200; ++i) {
    ASSERT_TRUE(send(net, sinks, 0, 1, 8));
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 641 + i; }));
    ASSERT_TRUE(send(net, sinks, 1, 0, 8));
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[0].packets.size() == 1 + i; }));
  }
  EXPECT_LE(net[1].messages().counters().credits, told + 1);
  EXPECT_EQ(net[0].messages().counters().credits, 0U);
}

TEST(VerbsPost, Completions_are_few_and_all_buffers_come_back) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  for (int i = 0; i < 800; ++i) ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 800; }));
  EXPECT_LE(net[0].messages().counters().completions, 800U / 16 + 1);
  // The last few of a peer may keep theirs until more is sent, but never so many that others lack.
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(send(net, sinks, 0, 1, 8000));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1000; }));
  for (unsigned i = 0; i < 100; ++i) net[0].poll(sinks[0]);
  EXPECT_LT(net[0].messages().sends().in_use(), 4U);
}

/// What has come is waited for; everything else can be done in a look that brings nothing.
TEST(VerbsPost, Look_that_brings_a_packet_asks_the_adapter_once_and_posts_no_buffer) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1; }));
  while (net[1].poll(sinks[1]) != 0) {
  }
  const std::uint64_t sends = net.wires.sends;
  const std::uint64_t max_reads = net.wires.max_reads;
  const std::uint64_t receives = net.wires.receives;
  ASSERT_EQ(post(net[0], 1, 8), Post::done);
  EXPECT_EQ(net.wires.sends, sends + 1);
  EXPECT_EQ(net[1].poll(sinks[1]), 1U);
  EXPECT_EQ(net.wires.max_reads, max_reads + 1);
  EXPECT_EQ(net.wires.receives, receives);
  EXPECT_EQ(net[1].poll(sinks[1]), 0U);
  EXPECT_EQ(net.wires.receives, receives + 1);
}

TEST(VerbsPost, Buffers_are_posted_together) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1; }));
  for (int i = 0; i < 48; ++i) ASSERT_EQ(post(net[0], 1, 8), Post::done);
  const std::uint64_t before = net.wires.receives;
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 49; }));
  EXPECT_LE(net.wires.receives, before + 49 / 16 + 1);
}

TEST(VerbsPost, Many_peers_share_few_completions_and_buffers) {
  constexpr std::uint32_t size = 40;
  VerbsNet net(size, {.receive_depth = 16, .send_depth = 32, .completion_depth = 100});
  std::vector<KeepingSink> sinks(size);
  std::vector<unsigned> posted(size);
  ASSERT_TRUE(poll_until(net, sinks, [&] {
    bool all = true;
    for (std::uint32_t to = 1; to < size; ++to) {
      while (posted[to] < 30 && post(net[0], to, posted[to] % 2 == 0 ? 8 : 5000) == Post::done) {
        ++posted[to];
      }
      all = all && sinks[to].packets.size() == 30;
    }
    return all;
  }));
  // And many to one, which has fewer buffers than they have credit together.
  std::fill(posted.begin(), posted.end(), 0);
  ASSERT_TRUE(poll_until(net, sinks, [&] {
    for (std::uint32_t from = 1; from < size; ++from) {
      while (posted[from] < 50 && post(net[from], 0, 8) == Post::done) ++posted[from];
    }
    return sinks[0].packets.size() == 50 * (size - 1);
  }));
}

TEST(VerbsPost, Reluctant_adapter_delays_and_loses_nothing) {
  VerbsNet net(2, {.reluctance = 0.4, .receive_depth = 8});
  std::vector<KeepingSink> sinks(2);
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(send(net, sinks, 0, 1, static_cast<std::size_t>(i) * 7, i));
    ASSERT_TRUE(send(net, sinks, 1, 0, static_cast<std::size_t>(i), i));
  }
  ASSERT_TRUE(poll_until(net, sinks, [&] {
    return sinks[0].packets.size() == 500 && sinks[1].packets.size() == 500;
  }));
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(sinks[1].packets[std::size_t(i)].body,
              pattern(static_cast<std::size_t>(i) * 7, unsigned(i)));
    ASSERT_EQ(sinks[0].packets[std::size_t(i)].envelope.tag, i);
  }
}

TEST(VerbsOpen, Less_memory_than_wished_for_is_made_do_with) {
  VerbsHabits habits;
  habits.most_registered = 1'400'000 + 70 * wire::verbs_max_packet_bytes;
  VerbsNet net(2, habits);
  EXPECT_EQ(net[0].messages().buffers(), 64U);
  std::vector<KeepingSink> sinks(2);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 200; }));
}

TEST(VerbsConnect, Peers_that_post_to_each_other_at_once_get_one_queue_each) {
  VerbsNet net(5);
  std::vector<KeepingSink> sinks(5);
  std::vector<std::vector<bool>> sent(5, std::vector<bool>(5));
  ASSERT_TRUE(poll_until(net, sinks, [&] {
    bool all = true;
    for (std::uint32_t a = 0; a < 5; ++a) {
      for (std::uint32_t b = 0; b < 5; ++b) {
        if (a != b && !sent[a][b]) sent[a][b] = post(net[a], b, 300) == Post::done;
      }
      all = all && sinks[a].packets.size() == 4;
    }
    return all;
  }));
  EXPECT_EQ(net.wires.queues.size(), 20U);
  for (std::size_t a = 0; a < 5; ++a) EXPECT_EQ(net.ranks[a]->asked.size(), 4U);
}

TEST(VerbsConnect, Peer_that_is_only_sent_to_asks_for_no_address) {
  VerbsNet net(3);
  std::vector<KeepingSink> sinks(3);
  ASSERT_TRUE(send(net, sinks, 0, 2, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[2].packets.size() == 1; }));
  ASSERT_TRUE(send(net, sinks, 2, 0, 8));
  EXPECT_TRUE(net.ranks[2]->asked.empty());
  EXPECT_EQ(net.ranks[0]->asked, std::vector<std::uint32_t>{2});
  EXPECT_EQ(net.wires.queues.size(), 2U);
}

TEST(VerbsConnect, Peer_that_cannot_be_reached_is_lost_with_the_reason) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  net.unreachable = true;
  EXPECT_EQ(post(net[0], 1, 8), Post::again);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
  EXPECT_EQ(net.losses(0)[0].text, "rank 1 cannot be reached");
  EXPECT_EQ(post(net[0], 1, 8), Post::done);  // dropped
}

TEST(VerbsConnect, What_is_no_address_of_the_same_network_makes_the_peer_lost) {
  const auto loss_with = [](std::vector<std::byte> address) {
    VerbsNet net(2);
    net.addresses[1] = std::move(address);
    KeepingSink sink;
    EXPECT_EQ(post(net[0], 1, 8), Post::done);
    net[0].poll(sink);
    return net.losses(0).size() == 1 ? net.losses(0)[0].text : std::string();
  };
  EXPECT_NE(loss_with({}).find("the same version"), std::string::npos);
  const auto other = wire::encode_verbs_address(
      {wire::VerbsLink::infiniband, std::vector<std::byte>{std::byte{1}, std::byte{1}}});
  EXPECT_NE(loss_with(other).find("over InfiniBand, rank 0 over Ethernet"), std::string::npos);
  auto damaged = wire::encode_verbs_address(
      {wire::VerbsLink::ethernet, std::vector<std::byte>{std::byte{1}, std::byte{1}}});
  damaged[5] = std::byte{1};
  EXPECT_NE(loss_with(damaged).find("the same version"), std::string::npos);
}

/// Plays a rank of the job at the other end of the socket that rank 0 gets for rank 1.
struct Forger {
  VerbsNet& net;
  base::UniqueFd socket;
  explicit Forger(VerbsNet& whole) : net(whole) {
    const auto [mine, theirs] = local_sockets();
    socket.reset(mine);
    net.introduced.insert({{0, 1}, {1, 0}});
    net.ranks[0]->introductions.push_back({1, theirs, {}});
  }
  void say(std::span<const std::byte> bytes) {
    ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  static wire::VerbsConnectionInfo info() {
    wire::VerbsConnectionInfo made;
    made.from = {VerbsNet::job, 1};
    made.queue = 77;
    made.gid[15] = std::byte{1};
    made.cookie = 5;
    made.window = 64;
    made.buffer_bytes = wire::verbs_max_packet_bytes;
    return made;
  }
};

TEST(VerbsConnect, Nonsense_instead_of_a_card_makes_the_peer_lost) {
  std::vector<std::vector<std::byte>> wrong;
  wrong.emplace_back(wire::verbs_info_bytes);
  wire::VerbsConnectionInfo info = Forger::info();
  const auto add = [&] {
    const auto bytes = wire::encode_verbs_card(info);
    wrong.emplace_back(bytes.begin(), bytes.end());
    info = Forger::info();
  };
  info.from.rank = 0;  // another one's
  add();
  info.from.job = VerbsNet::job + 1;
  add();
  info.from.engine = 1;
  add();
  info.link = wire::VerbsLink::infiniband;
  add();
  info.buffer_bytes = 4096;
  add();
  info.queue = 0;
  add();
  add();
  for (int i = 0; i < 4; ++i) wrong.back().push_back(std::byte{7});  // no word behind it
  for (const auto& bytes : wrong) {
    VerbsNet net(2);
    std::vector<KeepingSink> sinks(2);
    Forger forger(net);
    forger.say(bytes);
    ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
    EXPECT_NE(net.losses(0)[0].text.find("same version of Fulmar"), std::string::npos)
        << net.losses(0)[0].text;
    EXPECT_FALSE(net[0].alive(1));
  }
}

TEST(VerbsConnect, Bytes_behind_the_greeting_and_a_card_in_pieces) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  Forger forger(net);
  const auto info = wire::encode_verbs_card(Forger::info());
  for (const std::byte& byte : info) {
    forger.say({&byte, 1});
    for (int i = 0; i < 70; ++i) net[0].poll(sinks[0]);
  }
  EXPECT_EQ(post(net[0], 1, 8), Post::again);  // it has not said that it is ready
  forger.say(wire::verbs_ready());
  for (int i = 0; i < 70; ++i) net[0].poll(sinks[0]);
  EXPECT_TRUE(net.losses(0).empty());
  forger.say(wire::verbs_ready());
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
  EXPECT_NE(net.losses(0)[0].text.find("out of turn"), std::string::npos);
}

TEST(VerbsConnect, End_of_the_connection_before_the_queues_are_connected_is_a_loss) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  {
    Forger forger(net);
    for (int i = 0; i < 70; ++i) net[0].poll(sinks[0]);
  }
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
  EXPECT_NE(net.losses(0)[0].text.find("before the queues were connected"), std::string::npos);
}

TEST(VerbsPlace, Long_messages_arrive_and_their_memory_is_free_at_once) {
  VerbsNet net(2);
  std::vector<PlacingSink> sinks(2);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    Message message{number, pattern(300'000, static_cast<unsigned>(number))};
    message.packet_bytes = 5'000 * number + 7;
    message.piece_bytes = number == 1 ? 1U << 30 : number == 2 ? 9'000 : 300;
    sinks[1].messages[number].resize(message.bytes.size());
    ASSERT_TRUE(poll_until(net, sinks, [&] {
      return message.step(net[0], 1) && sinks[1].arrived[number] == message.bytes.size() &&
             sinks[0].ended.count(message.token(message.packets - 1)) != 0;
    }));
    EXPECT_EQ(sinks[1].messages[number], message.bytes);
    for (std::uint64_t i = 0; i < message.packets; ++i) {
      EXPECT_EQ(sinks[0].ended.at(message.token(i)), Sent::done);
    }
  }
}

TEST(VerbsPlace, Leaves_room_for_short_packets) {
  VerbsNet net(2);
  std::vector<PlacingSink> sinks(2);
  ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets == 1; }));
  Message message{1, pattern(100 * 10'000, 1)};
  message.packet_bytes = 10'000;
  sinks[1].messages[1].resize(message.bytes.size());
  EXPECT_FALSE(message.step(net[0], 1));
  EXPECT_LE(message.packets, verbs::Messages::window_in_place);
  EXPECT_EQ(post(net[0], 1, 1000), Post::done);
}

}  // namespace
}  // namespace fulmar::fabric
