// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/progress/waiting.h"

#include <gtest/gtest.h>

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
  TestIdle idle(WaitStyle::automatic, true);
  EXPECT_GT(steps_to_sleep(idle), 1000U);
  EXPECT_EQ(idle.quiet_sleeps(), 1U);
  EXPECT_GT(steps_to_sleep(idle), 900U);
  EXPECT_EQ(idle.quiet_sleeps(), 2U);
}

/// On a host where others run, a yield takes milliseconds.
TEST(Idle, Sleeps_soon_where_yields_take_long) {
  step_ns = 3'000'000;
  TestIdle idle(WaitStyle::automatic, true);
  EXPECT_LE(steps_to_sleep(idle), 16U);
  EXPECT_LE(steps_to_sleep(idle), 16U);
  idle.reset();
  EXPECT_EQ(idle.quiet_sleeps(), 0U);
  EXPECT_LE(steps_to_sleep(idle), 16U);
}

TEST(Idle, Counts_time_from_the_first_yield_on) {
  step_ns = 0;
  TestIdle idle(WaitStyle::automatic, true);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(idle.step(), TestIdle::Advice::look_again);
  time_ns += 1'000'000'000;  // passed while it was spinning
  EXPECT_GT(steps_to_sleep(idle), 1000U);
}

TEST(Idle, Who_is_to_sleep_at_once_does) {
  step_ns = 0;
  TestIdle idle(WaitStyle::sleep, false);
  EXPECT_EQ(steps_to_sleep(idle), 1U);
}

}  // namespace
}  // namespace fulmar::device
