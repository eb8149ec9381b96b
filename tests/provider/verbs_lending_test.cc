// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstdint>

#include "fabric/verbs/verbs.h"
#include "provider/verbs_net.h"
#include "provider/verbs_talk.h"

/// Which ring is lent again where all are lent (fabric/verbs/rings.h): one borrower that answers
/// nothing keeps only its own.
namespace fulmar::fabric {
namespace {

using verbs::Messages;

/// Rank 0 lends; the last rank talks, and gets a ring.
void expect_last_gets_one(Talk& traffic, std::uint32_t last) {
  const std::uint64_t lent = traffic.counters(0).rings_lent;
  ASSERT_TRUE(traffic.warm_up(last, 0));
  EXPECT_EQ(traffic.counters(0).rings_lent, lent + 1);
  // Who has computed loses nothing, and gets a ring when it talks again.
  traffic.net.ranks[1]->computes = false;
  ASSERT_TRUE(traffic.warm_up(1, 0));
  ASSERT_TRUE(traffic.warm_up(2, 0));
  traffic.check();
}

TEST(VerbsLending, Borrower_that_does_not_hear_its_gate_keeps_no_other_ring_from_being_lent) {
  Talk traffic(4, {.rings = 2});
  ASSERT_TRUE(traffic.warm_up(1, 0));
  ASSERT_TRUE(traffic.warm_up(2, 0));
  traffic.net.ranks[1]->computes = true;
  expect_last_gets_one(traffic, 3);
}

TEST(VerbsLending, Borrower_that_does_not_answer_the_offer_keeps_no_other_ring_from_being_lent) {
  Talk traffic(4, {.rings = 2});
  ASSERT_TRUE(traffic.say_and_wait(1, 0));
  for (unsigned i = 1; i < Messages::shorts_until_ring; ++i) {
    ASSERT_EQ(post(traffic.net[1], 0, 8, traffic.sent[1][0]++), Post::done);
  }
  traffic.net.ranks[1]->computes = true;
  ASSERT_TRUE(traffic.until([&] { return traffic.counters(0).rings_lent == 1; }));
  ASSERT_TRUE(traffic.warm_up(2, 0));
  EXPECT_EQ(traffic.counters(0).gates_turned, 1U);  // rank 2's
  expect_last_gets_one(traffic, 3);
}

/// Else a ring whose borrower waits for something would be kept for as long as that takes.
TEST(VerbsLending, Borrower_that_sleeps_is_woken_to_hear_that_its_gate_is_closed) {
  Talk traffic(3, {.rings = 1});
  ASSERT_TRUE(traffic.warm_up(1, 0));
  Verbs& sleeper = traffic.net[1];
  const auto is_called = [&] { return traffic.net.ranks[1]->adapter->has_events(); };
  ASSERT_TRUE(traffic.until([&] { return sleeper.arm() && !is_called(); }));
  traffic.net.ranks[1]->computes = true;
  for (unsigned i = 0; i < Messages::shorts_until_ring; ++i) ASSERT_TRUE(traffic.say(2, 0, 8));
  ASSERT_TRUE(traffic.until([&] { return traffic.counters(0).gates_turned == 2; }));
  EXPECT_EQ(traffic.counters(0).rings_lent, 1U);
  ASSERT_TRUE(traffic.until(is_called));
  traffic.net.ranks[1]->computes = false;
  ASSERT_TRUE(traffic.warm_up(2, 0));
  EXPECT_EQ(traffic.counters(0).rings_lent, 2U);
  traffic.check();
}

TEST(VerbsLending, Ring_that_is_written_to_no_more_goes_first_and_at_once) {
  Talk traffic(5, {.rings = 3});
  for (const std::uint32_t from : {1U, 2U, 3U}) ASSERT_TRUE(traffic.warm_up(from, 0));
  traffic.net.ranks[1]->computes = true;
  (void)traffic.net[0].arm();
  for (int i = 0; i < 100; ++i) traffic.poll_all();  // rank 2 has heard
  ASSERT_TRUE(traffic.warm_up(3, 0));
  const std::uint64_t turned = traffic.counters(0).gates_turned;
  for (unsigned i = 0; i < Messages::shorts_until_ring; ++i) ASSERT_TRUE(traffic.say(4, 0, 8));
  ASSERT_TRUE(traffic.until([&] { return traffic.received(4, 0); }));
  EXPECT_EQ(traffic.counters(0).rings_lent, 4U);
  ASSERT_TRUE(traffic.until([&] { return traffic.counters(0).gates_turned != turned; }));
  EXPECT_EQ(traffic.counters(0).gates_turned, turned + 1);  // rank 4's, and none was closed
  const std::uint64_t ringed = traffic.counters(3).ring_sends;
  ASSERT_TRUE(traffic.say_and_wait(3, 0));
  EXPECT_EQ(traffic.counters(3).ring_sends, ringed + 1);
  traffic.check();
}

}  // namespace
}  // namespace fulmar::fabric
