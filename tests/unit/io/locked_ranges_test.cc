// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/locked_ranges.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace fulmar::io {
namespace {

constexpr std::int64_t at_once = 0;
constexpr std::int64_t long_enough_ns = 60'000'000'000;

TEST(LockedRanges, Parts_that_overlap_are_held_once) {
  LockedRanges ranges;
  ASSERT_TRUE(ranges.acquire(100, 50, at_once));
  EXPECT_TRUE(ranges.acquire(150, 10, at_once)) << "it begins where the other ends";
  EXPECT_TRUE(ranges.acquire(0, 100, at_once)) << "it ends where the other begins";
  EXPECT_FALSE(ranges.acquire(149, 1, at_once));
  EXPECT_FALSE(ranges.acquire(0, 1000, at_once));
  ranges.release(100, 50);
  EXPECT_TRUE(ranges.acquire(120, 10, at_once));
  EXPECT_FALSE(ranges.acquire(100, 50, at_once));
}

TEST(LockedRanges, Threads_change_what_they_hold_one_after_the_other) {
  constexpr int rounds = 2000;
  constexpr std::int64_t bytes = 8;
  LockedRanges ranges;
  std::array<int, 3 * bytes> counters{};
  std::array<bool, 4> failed{};
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < failed.size(); ++number) {
    threads.emplace_back([&, number] {
      for (int round = 0; round < rounds; ++round) {
        const std::int64_t first = (round + static_cast<int>(number)) % (2 * bytes);
        failed[number] = failed[number] || !ranges.acquire(first, bytes, long_enough_ns);
        for (std::int64_t i = first; i < first + bytes; ++i) {
          ++counters[static_cast<std::size_t>(i)];
        }
        ranges.release(first, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int sum = 0;
  for (const int counter : counters) sum += counter;
  EXPECT_EQ(sum, static_cast<int>(failed.size()) * rounds * bytes);
  for (const bool each : failed) EXPECT_FALSE(each);
}

}  // namespace
}  // namespace fulmar::io
