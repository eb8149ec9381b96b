// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

#include "fabric/verbs/verbs.h"
#include "provider/remote_pair.h"
#include "provider/verbs_net.h"
#include "provider/verbs_talk.h"

/// Messages that came and the ends of own orders in a queue of completions each
/// (verbs::CompletionQueues::two): nothing says which of two in different queues was first.
namespace fulmar::fabric {
namespace {

constexpr auto two = verbs::CompletionQueues::two;

/// Two ranks that talk and sleep. One that sleeps wakes when its adapter calls, or at its deadline.
struct Sleepers {
  explicit Sleepers(const VerbsHabits& habits) : traffic(2, habits) {}

  Verbs& operator[](std::uint32_t rank) { return traffic.net[rank]; }
  void say(std::uint32_t from, std::size_t bytes) {
    const std::uint32_t to = 1 - from;
    if (post(traffic.net[from], to, bytes, traffic.sent[from][to]) == Post::done)
      ++traffic.sent[from][to];
  }
  /// Mostly short packets.
  void say_some(std::uint32_t from, std::mt19937& random) {
    for (unsigned left = random() % 40; left > 0; --left) {
      const bool is_long = random() % 16 == 0;
      long_ones += is_long ? 1 : 0;
      say(from, is_long ? 300 + random() % 6000 : random() % 200);
    }
  }
  void prepare_sleep(std::uint32_t rank) {
    const bool may_sleep = (*this)[rank].arm();
    asleep[rank] = (*this)[rank].poll(traffic.sinks[rank]) == 0 && may_sleep;
    slept += asleep[rank] ? 1 : 0;
  }
  enum class Clock : std::uint8_t { stands, goes };
  /// What a rank does next that neither sends nor gets tired.
  void go_on(std::uint32_t rank, Clock clock) {
    const bool is_late = clock == Clock::goes && (*this)[rank].next_deadline_ns() >= 0;
    if (traffic.net.ranks[rank]->adapter->has_rung() || is_late) asleep[rank] = false;
    if (!asleep[rank]) (*this)[rank].poll(traffic.sinks[rank]);
  }
  void step(std::mt19937& random) {
    const std::uint32_t rank = random() % 2;
    switch (random() % 6) {
      case 0:
        if (random() % 4 == 0 && !asleep[rank]) say_some(rank, random);
        break;
      case 1:
        traffic.net.wires.turn();
        break;
      case 2:
        if (random() % 8 == 0 && !asleep[rank]) prepare_sleep(rank);
        break;
      default:
        go_on(rank, Clock::stands);
    }
  }
  /// Time goes by in which a rank has nothing to say, and sleeps when it can.
  void rest(std::uint32_t rank) {
    for (int i = 0; i < 10; ++i) traffic.net.wires.turn();
    go_on(rank, Clock::goes);
    if (!asleep[rank]) prepare_sleep(rank);
  }

  Talk traffic;
  std::array<bool, 2> asleep{};
  std::uint64_t slept = 0;
  std::uint64_t long_ones = 0;
};

TEST(VerbsTwoQueues, Rings_messages_and_sleeps_lose_nothing_and_keep_the_order) {
  std::array<std::uint64_t, 2> ringed{};
  std::uint64_t slept = 0;
  std::uint64_t long_ones = 0;
  std::uint64_t turned = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Sleepers pair({.lag = seed % 2 == 0 ? 0.5 : 0.05,
                   .receive_depth = seed % 5 == 0 ? 16U : 256U,
                   .tears = seed % 3 == 0,
                   .completion_queues = two});
    Talk& traffic = pair.traffic;
    ASSERT_TRUE(traffic.warm_up(0, 1));
    ASSERT_TRUE(traffic.warm_up(1, 0));
    std::mt19937 random(seed);
    for (int i = 0; i < 600; ++i) pair.step(random);
    // One computes from now on; what it has sent arrives all the same.
    const std::uint32_t busy = seed % 2;
    for (int i = 0; i < 200; ++i) pair.rest(1 - busy);
    ASSERT_TRUE(traffic.received(busy, 1 - busy)) << seed;
    for (int i = 0; i < 400; ++i) pair.rest(static_cast<std::uint32_t>(i % 2));
    traffic.check();
    ASSERT_FALSE(::testing::Test::HasFailure()) << seed;
    for (std::uint32_t rank = 0; rank < 2; ++rank) pair[rank].leave(Leaving::for_good);
    ASSERT_TRUE(traffic.until([&] { return pair[0].quiesced() && pair[1].quiesced(); })) << seed;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      ringed[rank] += traffic.counters(rank).ring_packets;
      turned += traffic.counters(rank).gates_turned;
    }
    slept += pair.slept;
    long_ones += pair.long_ones;
  }
  EXPECT_GT(ringed[0], 10'000U);
  EXPECT_GT(ringed[1], 10'000U);
  EXPECT_GT(slept, 20'000U);
  EXPECT_GT(long_ones, 3'000U);
  EXPECT_GT(turned, 1'000U);
}

/// More messages than a look takes: there are always some left.
TEST(VerbsTwoQueues, Flood_of_messages_does_not_hide_the_end_of_a_fetch) {
  Talk traffic(5, {.rings = 0, .completion_queues = two});
  for (std::uint32_t from = 1; from < 5; ++from) ASSERT_TRUE(traffic.say_and_wait(from, 0));
  std::array<std::byte, 64> mine{};
  std::array<std::byte, 64> theirs{};
  const auto own = traffic.net[0].open_memory(mine, Access::local);
  const auto opened = traffic.net[4].open_memory(theirs, Access::peers_read);
  ASSERT_TRUE(own.ok() && opened.ok());
  const RemoteAddress place{opened.value().name_of(theirs.data()), opened.value().rkey};
  RemoteSink sink;
  for (std::uint64_t token = 0; token < 10; ++token) {
    ASSERT_EQ(traffic.net[0].rdma_read(4, mine, own.value().lkey, place, token), Post::done);
    unsigned looks = 0;
    for (; looks < 20 && sink.ended.size() <= token; ++looks) {
      for (const std::uint32_t from : {1U, 2U, 3U}) {
        traffic.net[from].poll(traffic.sinks[from]);
        while (post(traffic.net[from], 0, 8, traffic.sent[from][0]) == Post::done)
          ++traffic.sent[from][0];
      }
      for (int i = 0; i < 10; ++i) traffic.net.wires.turn();
      const std::size_t before = sink.tags.size();
      traffic.net[0].poll(sink);
      ASSERT_GT(sink.tags.size() - before, 30U);
      ASSERT_TRUE(traffic.net.ranks[0]->adapter->has_events());
    }
    EXPECT_LE(looks, 1U) << token;
  }
}

/// It is found out by an order that fails, which may be read first.
TEST(VerbsTwoQueues, What_came_before_a_death_or_a_goodbye_is_taken_first) {
  for (const bool says_bye : {false, true}) {
    for (int max_reads = 0; max_reads < 4; ++max_reads) {
      Talk traffic(2, {.completion_queues = two});
      ASSERT_TRUE(traffic.say_and_wait(0, 1));
      for (int i = 0; i < max_reads; ++i) traffic.net[1].poll(traffic.sinks[1]);
      for (int i = 0; i < 40; ++i) {
        ASSERT_EQ(post(traffic.net[0], 1, 1000, traffic.sent[0][1]++), Post::done);
      }
      if (says_bye) traffic.net[0].leave(Leaving::for_good);
      for (int i = 0; i < 100; ++i) traffic.net.wires.turn();
      ASSERT_EQ(post(traffic.net[1], 0, 8), Post::done);
      traffic.net.kill(0);
      const auto& losses = traffic.net.losses(1);
      for (int i = 0; i < 1000; ++i) traffic.poll_all();
      EXPECT_TRUE(traffic.received(0, 1)) << says_bye << ' ' << max_reads;
      EXPECT_EQ(losses.size(), says_bye ? 0U : 1U) << max_reads;
      EXPECT_EQ(traffic.net[1].gone(0), says_bye);
    }
  }
}

}  // namespace
}  // namespace fulmar::fabric
