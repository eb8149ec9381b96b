// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fabric/verbs/verbs.h"
#include "provider/remote_pair.h"
#include "provider/verbs_net.h"
#include "provider/verbs_talk.h"
#include "wire/verbs/verbs_packet.h"
#include "wire/verbs/verbs_ring.h"

/// Short packets that are written into memory that the receiver polls (fabric/verbs/rings.h). The
/// stand-ins write in several steps now and then, with polls in between. How sleepers are woken
/// is in verbs_doze_test.cc, what a slot may hold in verbs_slots_test.cc.
namespace fulmar::fabric {
namespace {

using verbs::Messages;

TEST(VerbsRings, Peer_that_sends_many_short_packets_is_lent_one_and_others_are_not) {
  Talk traffic(3);
  for (unsigned i = 0; i + 1 < Messages::shorts_until_ring; ++i) {
    ASSERT_TRUE(traffic.say_and_wait(0, 1));
    ASSERT_TRUE(traffic.say_and_wait(0, 2, Messages::most_ringed_body + 1));
  }
  EXPECT_EQ(traffic.counters(1).rings_lent, 0U);
  ASSERT_TRUE(traffic.warm_up(0, 1));
  EXPECT_EQ(traffic.counters(1).rings_lent, 1U);
  EXPECT_EQ(traffic.lent(1), 1U);
  for (unsigned i = 0; i < 50; ++i) {
    ASSERT_TRUE(traffic.say_and_wait(0, 2, Messages::most_ringed_body + 1));
  }
  EXPECT_EQ(traffic.lent(0) + traffic.lent(2), 0U);
  traffic.check();
}

/// What is waited for costs no question to the adapter, no buffer, and now and then a completion.
TEST(VerbsRings, Packet_costs_one_order_and_a_look_at_memory) {
  Talk traffic(2);
  ASSERT_TRUE(traffic.warm_up(0, 1));
  const VerbsWires before = traffic.net.wires;
  const std::uint64_t completions = traffic.counters(0).completions;
  constexpr unsigned count = 320;
  unsigned looks = 0;
  for (unsigned i = 0; i < count; ++i) {
    ASSERT_EQ(post(traffic.net[0], 1, 8, traffic.sent[0][1]++), Post::done);
    for (; !traffic.received(0, 1); ++looks) {
      traffic.net.wires.turn();
      traffic.net[1].poll(traffic.sinks[1]);
    }
    traffic.net[0].poll(traffic.sinks[0]);
  }
  const VerbsWires& after = traffic.net.wires;
  EXPECT_EQ(traffic.counters(1).ring_packets - count, traffic.counters(0).ring_sends - count);
  EXPECT_GE(traffic.counters(1).ring_packets, count);
  EXPECT_EQ(after.rdma_writes - before.rdma_writes, count);
  // The receiver has nothing to say but what it has taken.
  EXPECT_LE(after.sends - before.sends, count / Messages::ack_interval + 1);
  EXPECT_LE(after.receives - before.receives, count / Messages::ack_interval + 1);
  // The sender is lent no ring and asks with each look.
  EXPECT_LE(after.max_reads - before.max_reads, count + looks / Messages::polls_per_cq_poll + 20);
  EXPECT_LE(traffic.counters(0).completions - completions, count / 16 + 1);
  traffic.check();
}

TEST(VerbsRings, Order_holds_between_writes_messages_and_puts_that_tell) {
  for (const double trouble : {0.0, 0.3}) {
    VerbsHabits habits{
        .reluctance = trouble, .lag = trouble, .receive_depth = 16, .tears = trouble != 0};
    for (habits.inline_bytes = 0; habits.inline_bytes <= 220; habits.inline_bytes += 110) {
      habits.descends = !habits.descends;
      Talk traffic(2, habits);
      for (unsigned i = 0; i < 1500; ++i) {
        const std::size_t bytes = i % 7 == 3 ? 1000 : i % 11 == 5 ? 5000 : i * 13 % 217;
        ASSERT_TRUE(traffic.say(0, 1, bytes));
        if (i % 3 == 0) {
          ASSERT_TRUE(traffic.say(1, 0, bytes / 2));
        }
      }
      ASSERT_TRUE(traffic.until([&] { return traffic.received(0, 1) && traffic.received(1, 0); }));
      EXPECT_GT(traffic.counters(1).ring_packets, 500U);
      EXPECT_GT(traffic.counters(0).ring_packets, 50U);
      EXPECT_EQ(traffic.counters(0).ring_sends, traffic.counters(1).ring_packets);
      traffic.check();
    }
  }
}

TEST(VerbsRings, Puts_are_there_before_a_packet_behind_them_and_words_keep_their_place) {
  VerbsNet net(2, {.lag = 0.5});
  std::vector<RemoteSink> sinks(2);
  std::vector<std::byte> mine(64);
  std::vector<std::byte> theirs(64);
  const auto own = net[0].open_memory(mine, Access::local);
  const auto opened = net[1].open_memory(theirs, Access::peers_write);
  ASSERT_TRUE(own.ok() && opened.ok());
  const RemoteAddress place{opened.value().name_of(theirs.data()), opened.value().rkey};
  std::string order;
  sinks[1].on_packet = [&](std::int32_t tag) {
    order += 'p';
    if (tag % 4 != 1) return;
    EXPECT_EQ(theirs[0], static_cast<std::byte>(tag));
  };
  sinks[1].on_word = [&](std::uint16_t) { order += 'w'; };
  std::string expected;
  std::uint64_t token = 0;
  for (int i = 0; i < 240; ++i) {
    if (i % 4 == 1) {
      mine[0] = static_cast<std::byte>(i);
      ASSERT_TRUE(poll_until(net, sinks, [&] {
        return net[0].rdma_write_unsignaled(1, std::span(mine).first(1), own.value().lkey, place) ==
               Post::done;
      }));
    }
    if (i % 4 == 2) {
      expected += 'w';
      ASSERT_TRUE(poll_until(net, sinks, [&] {
        return net[0].rdma_write_with_immediate(1, {}, own.value().lkey, place, 7, token) ==
               Post::done;
      }));
      ++token;
    }
    expected += 'p';
    ASSERT_TRUE(send(net, sinks, 0, 1, 8, i));
    ASSERT_TRUE(poll_until(net, sinks, [&] { return order.size() == expected.size(); }));
  }
  EXPECT_EQ(order, expected);
  EXPECT_GT(net[1].messages().counters().ring_packets, 100U);
}

TEST(VerbsRings, Sender_stops_at_the_window_and_what_it_wrote_is_whole) {
  Talk traffic(2);
  ASSERT_TRUE(traffic.warm_up(0, 1));
  for (int round = 0; round < 5; ++round) {
    while (post(traffic.net[0], 1, 200, traffic.sent[0][1]) == Post::done) {
      ++traffic.sent[0][1];
      traffic.net[0].poll(traffic.sinks[0]);
      traffic.net.wires.turn();
    }
    ASSERT_TRUE(traffic.until([&] { return traffic.received(0, 1); }));
    traffic.poll_all();
    ASSERT_TRUE(traffic.say_and_wait(0, 1, 3));
  }
  EXPECT_GE(traffic.counters(1).ring_packets, 5U * (Messages::window - 16));
  traffic.check();
}

TEST(VerbsRings, Numbers_pass_the_end_of_the_ring_with_messages_in_between) {
  Talk traffic(2);
  ASSERT_TRUE(traffic.warm_up(0, 1));
  for (unsigned i = 0; i < 5 * wire::verbs_ring_slots; ++i) {
    ASSERT_TRUE(traffic.say_and_wait(0, 1, i % 5 == 0 ? 3000 : 16));
  }
  EXPECT_GE(traffic.counters(1).ring_packets, 4 * wire::verbs_ring_slots);
  traffic.check();
}

/// Then nothing is ever written that the receiver looks at.
TEST(VerbsRings, None_where_the_order_of_bytes_is_not_known_or_none_are_wanted) {
  for (const VerbsHabits& habits :
       {VerbsHabits{.places_in_order = false}, VerbsHabits{.rings = 0}}) {
    Talk traffic(2, habits);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(traffic.say_and_wait(0, 1));
    EXPECT_EQ(traffic.counters(1).rings_lent, 0U);
    EXPECT_EQ(traffic.counters(0).ring_sends, 0U);
    EXPECT_EQ(traffic.net.wires.rdma_writes, 0U);
    traffic.check();
  }
}

TEST(VerbsRings, Who_wants_none_uses_none_of_others_either) {
  Talk traffic(3, {.ringless = 0});
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(traffic.say_and_wait(0, 1));
    ASSERT_TRUE(traffic.say_and_wait(1, 0));
  }
  EXPECT_EQ(traffic.counters(1).rings_lent, 1U);  // and was told that it is not wanted
  EXPECT_EQ(traffic.counters(0).ring_sends + traffic.counters(1).ring_sends, 0U);
  EXPECT_EQ(traffic.counters(0).rings_lent + traffic.counters(1).gates_turned, 0U);
  EXPECT_EQ(traffic.net.ranks[0]->adapter->regions(), traffic.net.ranks[2]->adapter->regions());
  ASSERT_TRUE(traffic.warm_up(2, 1));
  traffic.check();
}

TEST(VerbsRings, Refused_memory_leaves_messages) {
  Talk traffic(2);
  ASSERT_TRUE(traffic.say_and_wait(0, 1));
  const std::size_t all = traffic.net.wires.habits.most_registered;
  traffic.net.wires.habits.most_registered = 0;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(traffic.say_and_wait(0, 1));
  EXPECT_EQ(traffic.counters(1).rings_lent, 0U);
  // Whether there is memory for a ring is found out once.
  traffic.net.wires.habits.most_registered = all;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(traffic.say_and_wait(0, 1));
  EXPECT_EQ(traffic.lent(1), 0U);
  traffic.check();
}

TEST(VerbsRings, Peer_without_memory_for_a_gate_declines_and_another_one_gets_the_ring) {
  Talk traffic(3, {.rings = 1});
  ASSERT_TRUE(traffic.say_and_wait(0, 1));
  ASSERT_TRUE(traffic.say_and_wait(2, 1));
  const std::size_t all = traffic.net.wires.habits.most_registered;
  ASSERT_TRUE(traffic.until([&] {
    return traffic.counters(1).rings_lent == 1 ||
           (post(traffic.net[0], 1, 8, traffic.sent[0][1]) == Post::done &&
            ++traffic.sent[0][1] == 0);
  }));
  traffic.net.wires.habits.most_registered = 0;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(traffic.say_and_wait(0, 1));
  EXPECT_EQ(traffic.counters(1).rings_lent, 1U);
  EXPECT_EQ(traffic.counters(0).ring_sends, 0U);
  traffic.net.wires.habits.most_registered = all;
  ASSERT_TRUE(traffic.warm_up(2, 1));
  EXPECT_EQ(traffic.counters(1).rings_lent, 2U);
  traffic.check();
}

TEST(VerbsRings, Memory_is_bounded_and_an_idle_ring_goes_to_who_talks) {
  constexpr std::uint32_t size = 7;
  Talk traffic(size, {.rings = 2});
  for (std::uint32_t from = 1; from < size; ++from) {
    // The ring of who is silent now is lent again, whoever had it.
    ASSERT_TRUE(traffic.warm_up(from, 0)) << from;
    EXPECT_LE(traffic.lent(0), 2U);
  }
  EXPECT_EQ(traffic.net[0].messages().rings().memory_bytes(), 2 * wire::verbs_ring_bytes);
  EXPECT_EQ(traffic.counters(0).rings_lent, size - 1);
  // All talk: two keep theirs.
  const std::uint64_t lent = traffic.counters(0).rings_lent;
  for (int i = 0; i < 200; ++i) {
    for (std::uint32_t from = 1; from < size; ++from) ASSERT_TRUE(traffic.say_and_wait(from, 0));
  }
  EXPECT_LE(traffic.counters(0).rings_lent, lent + 2);
  for (std::uint32_t from = 1; from < size; ++from) ASSERT_TRUE(traffic.warm_up(from, 0));
  traffic.check();
}

TEST(VerbsRings, Answer_to_a_ring_that_was_not_lent_ends_the_connection) {
  Talk traffic(2);
  ASSERT_TRUE(traffic.say_and_wait(0, 1));
  ASSERT_EQ(post(traffic.net[0], 1, wire::verbs_place_bytes, 0), Post::done);
  auto& mail = (*traffic.net.ranks[1]->adapter->queues().begin())->mail;
  ASSERT_EQ(mail.size(), 1U);
  mail.front().settle();
  wire::VerbsPacket head;
  std::memcpy(&head, mail.front().bytes.data(), sizeof head);
  head.kind = static_cast<std::uint8_t>(wire::VerbsSignal::gate);
  head.context = 0;
  std::memcpy(mail.front().bytes.data(), &head, sizeof head);
  ASSERT_TRUE(traffic.until([&] { return !traffic.net.losses(1).empty(); }));
  EXPECT_NE(traffic.net.losses(1)[0].text.find("tells of a gate"), std::string::npos)
      << traffic.net.losses(1)[0].text;
}

TEST(VerbsRings, Who_leaves_or_ends_with_packets_in_rings_loses_none) {
  for (const bool is_killed : {false, true}) {
    Talk traffic(3);
    ASSERT_TRUE(traffic.warm_up(0, 1));
    ASSERT_TRUE(traffic.warm_up(1, 0));
    ASSERT_TRUE(traffic.warm_up(2, 1));
    for (int i = 0; i < 40; ++i)
      ASSERT_EQ(post(traffic.net[0], 1, 8, traffic.sent[0][1]++), Post::done);
    if (is_killed) {
      const auto& queues = traffic.net.ranks[1]->adapter->queues();
      while (std::any_of(queues.begin(), queues.end(),
                         [](const auto* queue) { return !queue->mail.empty(); })) {
        traffic.net.wires.turn();
      }
      traffic.net.kill(0);
      ASSERT_TRUE(traffic.until([&] { return !traffic.net.losses(1).empty(); }));
    } else {
      traffic.net[0].leave(Leaving::for_good);
      ASSERT_TRUE(traffic.until([&] { return traffic.net[0].quiesced(); }));
      traffic.net[0].end();
      traffic.net.kill(0);
    }
    ASSERT_TRUE(traffic.until([&] { return traffic.received(0, 1); }));
    const auto tags = traffic.from_peer(0, 1);
    for (std::size_t i = 0; i < tags.size(); ++i) ASSERT_EQ(tags[i], static_cast<int>(i));
    EXPECT_EQ(traffic.net.losses(1).size(), is_killed ? 1U : 0U);
    // The ring of who has gone is free for others.
    EXPECT_EQ(traffic.lent(1), 2U);
    ASSERT_TRUE(traffic.say(2, 1, 8));
    ASSERT_TRUE(traffic.until([&] { return traffic.received(2, 1); }));
    for (const std::uint32_t rank : {1U, 2U}) traffic.net[rank].leave(Leaving::for_good);
    ASSERT_TRUE(
        traffic.until([&] { return traffic.net[1].quiesced() && traffic.net[2].quiesced(); }));
  }
}

/// A peer that has not looked since sends messages: they wake who leaves, and are not in the way.
TEST(VerbsRings, Gates_are_closed_ahead_of_the_last_word) {
  for (const bool is_refused : {false, true}) {
    Talk traffic(2);
    ASSERT_TRUE(traffic.warm_up(0, 1));
    traffic.net.wires.habits.reluctance = is_refused ? 1 : 0;
    const std::uint64_t turned = traffic.counters(1).gates_turned;
    traffic.net[1].leave(Leaving::for_good);
    EXPECT_EQ(traffic.counters(1).gates_turned - turned, is_refused ? 0U : 1U);
    traffic.net.wires.habits.reluctance = 0;
    for (int i = 0; i < 100; ++i) {
      traffic.net[1].poll(traffic.sinks[1]);
      traffic.net.wires.turn();
    }
    const std::uint64_t ringed = traffic.counters(0).ring_sends;
    ASSERT_EQ(post(traffic.net[0], 1, 8, traffic.sent[0][1]++), Post::done);
    EXPECT_EQ(traffic.counters(0).ring_sends, ringed);
    ASSERT_TRUE(traffic.until([&] { return traffic.received(0, 1); }));
    traffic.net[0].leave(Leaving::for_good);
    ASSERT_TRUE(
        traffic.until([&] { return traffic.net[0].quiesced() && traffic.net[1].quiesced(); }));
    traffic.check();
  }
}

TEST(VerbsRings, Dropped_peer_gives_its_ring_back_and_its_gate) {
  Talk traffic(3, {.rings = 1});
  ASSERT_TRUE(traffic.warm_up(0, 1));
  ASSERT_TRUE(traffic.warm_up(1, 0));
  traffic.net[1].drop(0);
  ASSERT_TRUE(traffic.until([&] { return !traffic.net.losses(0).empty(); }));
  for (int i = 0; i < 200; ++i) traffic.poll_all();
  EXPECT_EQ(traffic.net.losses(1).size(), 1U);
  ASSERT_TRUE(traffic.warm_up(2, 1));
  EXPECT_EQ(traffic.lent(1), 1U);
}

TEST(VerbsRings, Failed_write_loses_the_peer_and_frees_all_buffers) {
  Talk traffic(2, {.inline_bytes = 0});
  ASSERT_TRUE(traffic.warm_up(0, 1));
  (*traffic.net.ranks[0]->adapter->queues().begin())->break_down();
  EXPECT_EQ(post(traffic.net[0], 1, 8), Post::done);
  traffic.net[0].poll(traffic.sinks[0]);
  ASSERT_EQ(traffic.net.losses(0).size(), 1U);
  EXPECT_NE(traffic.net.losses(0)[0].text.find("the queue is broken; run fulmar doctor"),
            std::string::npos);
  EXPECT_EQ(traffic.net[0].messages().sends().in_use(), 0U);
}

}  // namespace
}  // namespace fulmar::fabric
