// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

#include "fabric/verbs/verbs.h"
#include "provider/verbs_net.h"
#include "provider/verbs_talk.h"

/// Messages that came and the ends of own orders in a queue of completions each
/// (verbs::CompletionQueues::two): nothing says which of two in different queues was first.
namespace fulmar::fabric {
namespace {

constexpr auto two = verbs::CompletionQueues::two;

/// Two ranks that talk and sleep. One that sleeps wakes when its adapter calls, or at its deadline.
struct Sleepers {
  explicit Sleepers(const VerbsHabits& habits) : talk(2, habits) {}

  Verbs& operator[](std::uint32_t rank) { return talk.net[rank]; }
  void say(std::uint32_t from, std::size_t bytes) {
    const std::uint32_t to = 1 - from;
    if (post(talk.net[from], to, bytes, talk.sent[from][to]) == Post::done) ++talk.sent[from][to];
  }
  /// Mostly short packets.
  void say_some(std::uint32_t from, std::mt19937& random) {
    for (unsigned left = random() % 40; left > 0; --left) {
      const bool is_long = random() % 16 == 0;
      long_ones += is_long ? 1 : 0;
      say(from, is_long ? 300 + random() % 6000 : random() % 200);
    }
  }
  void lie_down(std::uint32_t rank) {
    const bool may_sleep = (*this)[rank].arm();
    asleep[rank] = (*this)[rank].poll(talk.sinks[rank]) == 0 && may_sleep;
    slept += asleep[rank] ? 1 : 0;
  }
  enum class Clock : std::uint8_t { stands, goes };
  /// What a rank does next that neither sends nor gets tired.
  void go_on(std::uint32_t rank, Clock clock) {
    const bool is_late = clock == Clock::goes && (*this)[rank].next_deadline_ns() >= 0;
    if (talk.net.ranks[rank]->adapter->has_rung() || is_late) asleep[rank] = false;
    if (!asleep[rank]) (*this)[rank].poll(talk.sinks[rank]);
  }
  void step(std::mt19937& random) {
    const std::uint32_t rank = random() % 2;
    switch (random() % 6) {
      case 0:
        if (random() % 4 == 0 && !asleep[rank]) say_some(rank, random);
        break;
      case 1:
        talk.net.wires.turn();
        break;
      case 2:
        if (random() % 8 == 0 && !asleep[rank]) lie_down(rank);
        break;
      default:
        go_on(rank, Clock::stands);
    }
  }
  /// Time goes by in which a rank has nothing to say, and sleeps when it can.
  void rest(std::uint32_t rank) {
    for (int i = 0; i < 10; ++i) talk.net.wires.turn();
    go_on(rank, Clock::goes);
    if (!asleep[rank]) lie_down(rank);
  }

  Talk talk;
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
    Talk& talk = pair.talk;
    ASSERT_TRUE(talk.warm_up(0, 1));
    ASSERT_TRUE(talk.warm_up(1, 0));
    std::mt19937 random(seed);
    for (int i = 0; i < 600; ++i) pair.step(random);
    // One computes from now on; what it has sent arrives all the same.
    const std::uint32_t busy = seed % 2;
    for (int i = 0; i < 200; ++i) pair.rest(1 - busy);
    ASSERT_TRUE(talk.received(busy, 1 - busy)) << seed;
    for (int i = 0; i < 400; ++i) pair.rest(static_cast<std::uint32_t>(i % 2));
    talk.check();
    ASSERT_FALSE(::testing::Test::HasFailure()) << seed;
    for (std::uint32_t rank = 0; rank < 2; ++rank) pair[rank].leave(Leaving::for_good);
    ASSERT_TRUE(talk.until([&] { return pair[0].parted() && pair[1].parted(); })) << seed;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      ringed[rank] += talk.counters(rank).ring_packets;
      turned += talk.counters(rank).gates_turned;
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

}  // namespace
}  // namespace fulmar::fabric
