// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "base/clock.h"
#include "fabric/verbs/verbs.h"
#include "provider/verbs_net.h"

/// A process that sleeps is woken, although writes into its rings do not wake it (fabric/verbs/rings.h).
namespace fulmar::fabric {
namespace {

using verbs::Messages;

/// Rank 0 sends to rank 1, which sleeps now and then.
struct Pair {
  explicit Pair(const VerbsHabits& habits = {}) : net(2, habits) {}

  [[nodiscard]] const Messages::Counters& counters(std::uint32_t rank) {
    return net[rank].messages().counters();
  }
  [[nodiscard]] std::size_t received() const { return sinks[1].packets.size(); }
  bool say() {
    if (post(net[0], 1, 8, static_cast<int>(sent)) != Post::done) return false;
    ++sent;
    return true;
  }
  bool warm_up() {
    const std::uint64_t before = counters(1).ring_packets;
    return poll_until(net, sinks, [&] {
      const bool is_quiet = received() == sent;
      if (is_quiet && counters(1).ring_packets != before) return true;
      if (is_quiet) say();
      return false;
    });
  }
  /// What a process does before it sleeps: true if it may sleep.
  bool prepare_sleep() {
    const bool may_sleep = net[1].arm();
    return net[1].poll(sinks[1]) == 0 && may_sleep;
  }
  /// The same once what moves now has moved.
  bool sleep_soon() {
    for (int i = 0; i < 100; ++i) {
      if (prepare_sleep()) return true;
    }
    return false;
  }
  /// Whether the sleep ends by itself.
  [[nodiscard]] bool is_called() { return net.ranks[1]->adapter->has_events(); }
  [[nodiscard]] bool has_deadline() { return net[1].next_deadline_ns() >= 0; }
  void settle() {
    for (int i = 0; i < 10; ++i) net.wires.turn();
  }

  VerbsNet net;
  std::vector<KeepingSink> sinks = std::vector<KeepingSink>(2);
  std::size_t sent = 0;
};

TEST(VerbsDoze, Sender_that_has_not_looked_since_sends_a_message_to_a_sleeper) {
  Pair pair;
  ASSERT_TRUE(pair.warm_up());
  ASSERT_TRUE(pair.sleep_soon());
  EXPECT_TRUE(pair.has_deadline());  // until the sender is known to have heard
  pair.settle();
  const std::uint64_t ringed = pair.counters(0).ring_sends;
  ASSERT_TRUE(pair.say());
  pair.settle();
  EXPECT_EQ(pair.counters(0).ring_sends, ringed);
  EXPECT_TRUE(pair.is_called());
  EXPECT_EQ(pair.net[1].poll(pair.sinks[1]), 1U);
  EXPECT_EQ(pair.received(), pair.sent);
  // That packet has told that the sender has heard.
  ASSERT_TRUE(pair.sleep_soon());
  EXPECT_FALSE(pair.has_deadline());
}

TEST(VerbsDoze, Packet_that_crosses_the_closing_ends_the_lying_down_or_is_found_at_the_deadline) {
  Pair pair;
  ASSERT_TRUE(pair.warm_up());
  // Written before: found by the look that arming makes.
  ASSERT_TRUE(pair.say());
  pair.settle();
  EXPECT_FALSE(pair.prepare_sleep());
  ASSERT_TRUE(poll_until(pair.net, pair.sinks, [&] { return pair.received() == pair.sent; }));
  ASSERT_TRUE(pair.warm_up());
  // On its way while the gate is closed.
  const std::uint64_t ringed = pair.counters(0).ring_sends;
  ASSERT_TRUE(pair.say());
  EXPECT_EQ(pair.counters(0).ring_sends, ringed + 1);
  auto& mail = (*pair.net.ranks[1]->adapter->queues().begin())->mail;
  const auto late = std::exchange(mail, {});
  ASSERT_TRUE(pair.sleep_soon());
  const auto now = static_cast<std::int64_t>(base::now_ns());
  ASSERT_TRUE(pair.has_deadline());
  EXPECT_LE(pair.net[1].next_deadline_ns(), now + Messages::max_poll_sleep_ns);
  mail = late;
  pair.settle();
  EXPECT_FALSE(pair.is_called());
  EXPECT_EQ(pair.net[1].poll(pair.sinks[1]), 1U);  // at the deadline
  EXPECT_EQ(pair.received(), pair.sent);
}

TEST(VerbsDoze, Sender_that_has_nothing_to_send_tells_that_it_has_heard) {
  for (const bool sleeps : {false, true}) {
    Pair pair;
    ASSERT_TRUE(pair.warm_up());
    ASSERT_TRUE(pair.sleep_soon());
    ASSERT_TRUE(pair.has_deadline());
    pair.settle();
    if (sleeps) {
      (void)pair.net[0].arm();
    } else {
      for (int i = 0; i < 64; ++i) pair.net[0].poll(pair.sinks[0]);
    }
    pair.settle();
    ASSERT_TRUE(pair.is_called());
    pair.net[1].poll(pair.sinks[1]);
    ASSERT_TRUE(pair.sleep_soon());
    EXPECT_FALSE(pair.has_deadline()) << sleeps;
    // It tells so once.
    const std::uint64_t sends = pair.net.wires.sends;
    for (int i = 0; i < 300; ++i) pair.net[0].poll(pair.sinks[0]);
    EXPECT_EQ(pair.net.wires.sends, sends);
  }
}

TEST(VerbsDoze, Pair_that_sleeps_between_few_packets_turns_no_gate) {
  Pair pair;
  ASSERT_TRUE(pair.warm_up());
  ASSERT_TRUE(pair.sleep_soon());
  ASSERT_TRUE(pair.say());
  ASSERT_TRUE(poll_until(pair.net, pair.sinks, [&] { return pair.received() == pair.sent; }));
  const std::uint64_t turned = pair.counters(1).gates_turned;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(pair.sleep_soon());
    for (unsigned j = 0; j + 1 < Messages::shorts_until_ring; ++j) ASSERT_TRUE(pair.say());
    ASSERT_TRUE(poll_until(pair.net, pair.sinks, [&] { return pair.received() == pair.sent; }));
  }
  EXPECT_EQ(pair.counters(1).gates_turned, turned);
  // One that talks without a sleep gets its ring back, which was not lent again.
  ASSERT_TRUE(pair.warm_up());
  EXPECT_EQ(pair.counters(1).gates_turned, turned + 1);
  EXPECT_EQ(pair.counters(1).rings_lent, 1U);
}

TEST(VerbsDoze, Gate_that_cannot_be_closed_now_makes_sleeps_short) {
  Pair pair;
  ASSERT_TRUE(pair.warm_up());
  pair.net.wires.habits.reluctance = 1;
  (void)pair.net[1].arm();
  EXPECT_TRUE(pair.has_deadline());
  EXPECT_LE(pair.net[1].next_deadline_ns(),
            static_cast<std::int64_t>(base::now_ns()) + Messages::min_poll_sleep_ns);
  pair.net.wires.habits.reluctance = 0;
  ASSERT_TRUE(pair.sleep_soon());
  pair.settle();
  ASSERT_TRUE(pair.say());
  pair.settle();
  EXPECT_TRUE(pair.is_called());
}

/// A gate that shows nonsense, or half of a word, counts as closed and harms nothing.
TEST(VerbsDoze, Word_of_a_gate_that_is_not_whole_is_not_believed) {
  Pair pair;
  ASSERT_TRUE(pair.warm_up());
  pair.settle();
  pair.net.wires.habits.lag = 1;
  (void)pair.net[1].arm();
  auto& mail = (*pair.net.ranks[0]->adapter->queues().begin())->mail;
  ASSERT_EQ(mail.size(), 1U);
  ASSERT_EQ(mail.front().bytes.size(), 8U);
  mail.front().bytes[7] ^= std::byte{1};
  pair.net.wires.habits.lag = 0;
  pair.settle();
  const std::uint64_t ringed = pair.counters(0).ring_sends;
  ASSERT_TRUE(pair.say());
  EXPECT_EQ(pair.counters(0).ring_sends, ringed);
  pair.settle();
  EXPECT_TRUE(pair.is_called());
  EXPECT_EQ(pair.net[1].poll(pair.sinks[1]), 1U);
  ASSERT_TRUE(pair.sleep_soon());
  EXPECT_TRUE(pair.has_deadline());  // it has not heard the true word
  EXPECT_TRUE(pair.net[0].alive(1));
}

/// Any order of posts, looks, sleeps and of what the adapters do: who sleeps without a deadline
/// while something for it lies in memory, and nothing that wakes it is on the way, sleeps for ever.
TEST(VerbsDoze, Nobody_sleeps_for_ever) {
  std::uint64_t ringed = 0;
  std::uint64_t slept = 0;
  std::uint64_t for_long = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    Pair pair({.lag = 0.5, .tears = seed % 3 == 0});
    std::mt19937 random(seed);
    ASSERT_TRUE(pair.warm_up());
    bool asleep = false;
    const auto wake_if_called = [&](bool all_is_done) {
      if (!asleep || pair.is_called()) {
        asleep = false;
      } else if (all_is_done && pair.has_deadline()) {
        asleep = false;
      }
    };
    for (int step = 0; step < 400; ++step) {
      switch (random() % 6) {
        case 0:
          if (random() % 4 == 0) {
            for (unsigned i = random() % 40; i > 0; --i) pair.say();
          }
          break;
        case 1:
          pair.net[0].poll(pair.sinks[0]);
          break;
        case 2:
          pair.net.wires.turn();
          break;
        case 3:
          if (random() % 8 == 0 && !asleep) asleep = pair.prepare_sleep();
          slept += asleep ? 1 : 0;
          break;
        default:
          wake_if_called(false);
          if (!asleep) pair.net[1].poll(pair.sinks[1]);
      }
    }
    // Rank 0 computes from now on; the adapters go on.
    if (!asleep && seed % 2 == 0) asleep = pair.prepare_sleep();
    for (int i = 0; i < 200; ++i) {
      pair.settle();
      wake_if_called(true);
      if (!asleep) pair.net[1].poll(pair.sinks[1]);
      if (!asleep) asleep = pair.prepare_sleep();
    }
    for_long += pair.has_deadline() ? 0 : 1;
    ASSERT_EQ(pair.received(), pair.sent) << seed;
    ringed += pair.counters(1).ring_packets;
  }
  EXPECT_GT(ringed, 10'000U);
  EXPECT_GT(slept, 3'000U);
  EXPECT_GT(for_long, 20U);
}

}  // namespace
}  // namespace fulmar::fabric
