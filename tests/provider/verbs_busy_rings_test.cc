// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/verbs/verbs.h"
#include "provider/remote_pair.h"
#include "provider/verbs_net.h"
#include "provider/verbs_talk.h"

/// Rings that always have news (fabric/verbs/rings.h) keep nothing else waiting.
namespace fulmar::fabric {
namespace {

using verbs::Messages;

/// Rank 1 has lent rings to rank 0, whose ring is full before each look, and to rank 2.
struct Busy {
  explicit Busy(const VerbsHabits& habits = {}) : traffic(3, habits) {
    warm = traffic.warm_up(0, 1) && traffic.warm_up(2, 1);
    (void)look(traffic.sinks[1]);  // then it has heard that all before was taken
  }
  /// As many packets as the window takes.
  void fill(std::uint32_t from) {
    traffic.net[from].poll(traffic.sinks[from]);
    while (post(traffic.net[from], 1, 8, traffic.sent[from][1]) == Post::done)
      ++traffic.sent[from][1];
    settle();
  }
  /// What is on the way arrives.
  void settle() {
    for (int i = 0; i < 1000; ++i) traffic.net.wires.turn();
  }
  /// One look of rank 1; false if the ring was not full.
  template <class S>
  bool look(S& sink) {
    fill(0);
    const std::uint64_t before = traffic.counters(1).ring_packets;
    traffic.net[1].poll(sink);
    return traffic.counters(1).ring_packets - before >= Messages::window;
  }

  Talk traffic;
  bool warm = false;
};

TEST(VerbsBusyRings, One_that_is_always_full_keeps_no_other_waiting) {
  for (int round = 0; round < 10; ++round) {
    Busy busy;
    ASSERT_TRUE(busy.warm);
    for (int i = 0; i < round; ++i) ASSERT_TRUE(busy.look(busy.traffic.sinks[1]));
    ASSERT_EQ(post(busy.traffic.net[2], 1, 8, busy.traffic.sent[2][1]++), Post::done);
    unsigned looks = 0;
    for (; looks < 50 && !busy.traffic.received(2, 1); ++looks) {
      ASSERT_TRUE(busy.look(busy.traffic.sinks[1]));
    }
    EXPECT_LE(looks, 2U);
  }
}

TEST(VerbsBusyRings, Message_of_another_peer_is_found_soon) {
  Busy busy;
  ASSERT_TRUE(busy.warm);
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(post(busy.traffic.net[2], 1, 3000, busy.traffic.sent[2][1]++), Post::done);
    unsigned looks = 0;
    for (; looks < 50 && !busy.traffic.received(2, 1); ++looks) {
      ASSERT_TRUE(busy.look(busy.traffic.sinks[1]));
      busy.traffic.net[2].poll(busy.traffic.sinks[2]);
    }
    EXPECT_LE(looks, 2U) << round;
  }
}

TEST(VerbsBusyRings, End_of_a_fetch_is_noticed_with_the_next_look) {
  Busy busy;
  ASSERT_TRUE(busy.warm);
  VerbsNet& net = busy.traffic.net;
  std::array<std::byte, 64> mine{};
  std::array<std::byte, 64> theirs{};
  const auto own = net[1].open_memory(mine, Access::local);
  const auto opened = net[2].open_memory(theirs, Access::peers_read);
  ASSERT_TRUE(own.ok() && opened.ok());
  const RemoteAddress place{opened.value().name_of(theirs.data()), opened.value().rkey};
  RemoteSink sink;
  for (std::uint64_t token = 0; token < 20; ++token) {
    ASSERT_EQ(net[1].rdma_read(2, mine, own.value().lkey, place, token), Post::done);
    ASSERT_TRUE(busy.look(sink));
    EXPECT_EQ(sink.ended.size(), token + 1);
    while (sink.ended.size() <= token) net[1].poll(sink);
  }
}

/// Also if it is found dead by what fails on its way to it.
TEST(VerbsBusyRings, Packets_that_came_before_a_death_are_taken_first) {
  for (const bool is_sent_to : {false, true}) {
    for (const std::uint32_t victim : {0U, 2U}) {
      Busy busy;
      ASSERT_TRUE(busy.warm);
      for (const std::uint32_t from : {0U, 2U}) busy.fill(from);
      busy.traffic.net.kill(victim);
      if (is_sent_to) {
        EXPECT_EQ(post(busy.traffic.net[1], victim, 8), Post::done);
      }
      (void)busy.traffic.net[1].arm();
      const auto& losses = busy.traffic.net.losses(1);
      ASSERT_TRUE(busy.traffic.until([&] { return !losses.empty(); }));
      EXPECT_TRUE(busy.traffic.received(victim, 1)) << victim << ' ' << is_sent_to;
      EXPECT_EQ(losses.size(), 1U);
      EXPECT_EQ(losses[0].peer, victim);
      ASSERT_TRUE(busy.traffic.until([&] { return busy.traffic.received(2 - victim, 1); }));
    }
  }
}

/// It will never be whole.
TEST(VerbsBusyRings, Half_a_packet_of_who_has_died_is_not_waited_for) {
  Busy busy;
  ASSERT_TRUE(busy.warm);
  ASSERT_EQ(post(busy.traffic.net[2], 1, 8, 0), Post::done);
  for (const auto& [number, queue] : busy.traffic.net.wires.queues) {
    if (queue->mail.empty() || queue->mail.front().kind != QueueStandIn::Kind::rdma_write) continue;
    queue->mail.front().bytes.front() ^= std::byte{1};
  }
  busy.settle();
  busy.traffic.net.kill(2);
  const auto& losses = busy.traffic.net.losses(1);
  ASSERT_TRUE(busy.traffic.until([&] { return !losses.empty(); }));
  EXPECT_GT(busy.traffic.counters(1).half_packets, 0U);
  EXPECT_NE(losses[0].text.find("its process has ended"), std::string::npos) << losses[0].text;
  EXPECT_TRUE(busy.traffic.received(2, 1));
}

}  // namespace
}  // namespace fulmar::fabric
