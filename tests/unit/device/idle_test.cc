// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/progress/idle.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fulmar::device {
namespace {

std::uint64_t time_ns = 0;
std::uint64_t step_ns = 0;

/// Each look at the clock finds it `step_ns` later.
std::uint64_t test_clock() noexcept { return time_ns += step_ns; }
using TestIdle = IdleBy<test_clock>;

/// Steps until the next sleep, that one included.
unsigned steps_to_sleep(TestIdle& idle) {
  unsigned steps = 1;
  while (idle.step() == TestIdle::Advice::look_again) ++steps;
  return steps;
}

TEST(Idle, Sleeps_after_a_thousand_yields_that_take_no_time) {
  step_ns = 0;
  YieldCost cost;
  TestIdle idle(WaitStyle::automatic, true, cost);
  EXPECT_GT(steps_to_sleep(idle), 1000U);
  EXPECT_EQ(idle.quiet_sleeps(), 1U);
  EXPECT_GT(steps_to_sleep(idle), 900U);
  EXPECT_EQ(idle.quiet_sleeps(), 2U);
}

/// Who woke it may come again a little later.
TEST(Idle, Looks_as_long_as_at_first_after_it_was_woken) {
  step_ns = 3'000'000;
  YieldCost cost;
  TestIdle idle(WaitStyle::automatic, false, cost);
  const unsigned first = steps_to_sleep(idle);
  idle.note(SleepEnd::quiet);
  EXPECT_LE(steps_to_sleep(idle), 4U);
  idle.note(SleepEnd::woken);
  EXPECT_EQ(idle.quiet_sleeps(), 2U) << "a wake-up is not the end of a quiet wait";
  EXPECT_GE(steps_to_sleep(idle), first - 4);
  idle.note(SleepEnd::moved);
  EXPECT_EQ(idle.quiet_sleeps(), 0U);
}

/// On a host where others run, a yield takes milliseconds.
TEST(Idle, Sleeps_soon_where_yields_take_long) {
  step_ns = 3'000'000;
  YieldCost cost;
  TestIdle idle(WaitStyle::automatic, true, cost);
  EXPECT_LE(steps_to_sleep(idle), 16U);
  EXPECT_LE(steps_to_sleep(idle), 16U);
  idle.reset();
  EXPECT_EQ(idle.quiet_sleeps(), 0U);
  EXPECT_LE(steps_to_sleep(idle), 16U);
}

/// A long yield is the last one for a while, also of later waits, and of still more the next time.
TEST(Idle, Sleeps_without_a_yield_after_one_that_took_long) {
  step_ns = 3'000'000;
  YieldCost cost;
  TestIdle first(WaitStyle::automatic, true, cost);
  EXPECT_GT(steps_to_sleep(first), 4U);  // looks, then one yield
  step_ns = 0;
  TestIdle second(WaitStyle::automatic, true, cost);
  EXPECT_LE(steps_to_sleep(second), 4U);
  time_ns += YieldCost::shortest_pause_ns;
  TestIdle third(WaitStyle::automatic, true, cost);
  EXPECT_GT(steps_to_sleep(third), 1000U) << "yields are short again";
}

TEST(YieldCost, Pauses_grow_while_yields_stay_long) {
  YieldCost cost;
  std::uint64_t now = 1;
  for (std::uint64_t pause = YieldCost::shortest_pause_ns; pause < 2 * YieldCost::longest_pause_ns;
       pause *= 2) {
    cost.note(YieldCost::long_yield_ns, now);
    const std::uint64_t limited = std::min(pause, YieldCost::longest_pause_ns);
    EXPECT_TRUE(cost.is_high(now + limited - 1));
    EXPECT_FALSE(cost.is_high(now + limited));
    now += limited;
  }
  cost.note(YieldCost::long_yield_ns - 1, now);
  EXPECT_FALSE(cost.is_high(now));
  cost.note(YieldCost::long_yield_ns, now);
  EXPECT_FALSE(cost.is_high(now + YieldCost::shortest_pause_ns)) << "a short one ends the growth";
}

TEST(Idle, Counts_time_from_the_first_yield_on) {
  step_ns = 0;
  YieldCost cost;
  TestIdle idle(WaitStyle::automatic, true, cost);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(idle.step(), TestIdle::Advice::look_again);
  time_ns += 1'000'000'000;  // passed while it was spinning
  EXPECT_GT(steps_to_sleep(idle), 1000U);
}

TEST(Idle, Who_is_to_sleep_at_once_does) {
  step_ns = 0;
  YieldCost cost;
  TestIdle idle(WaitStyle::sleep, false, cost);
  EXPECT_EQ(steps_to_sleep(idle), 1U);
}

}  // namespace
}  // namespace fulmar::device
