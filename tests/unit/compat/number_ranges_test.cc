// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/number_ranges.h"

#include <gtest/gtest.h>

#include <map>

namespace fulmar::compat {
namespace {

/// A library with slots of 1024 bytes at `base`, of which `used` have ever been used, and others elsewhere.
struct Arena {
  std::uintptr_t base = 0x7f0000001000;
  std::uintptr_t stride = 1024;
  std::uint32_t first = 4096;
  std::uint32_t used = 1;
  std::uint32_t in_first_part = 8;
  int asked = 0;

  [[nodiscard]] std::uintptr_t handle(std::uint32_t number) const {
    const std::uint32_t slot = (number - first) / 64;
    if (number < first || slot >= used) return 0;
    const std::uintptr_t part = slot < in_first_part ? base : base + 0x10000000;
    return part + slot * stride + (number - first) % 64;
  }
  void tell(NumberRange& range, std::uint32_t number) {
    range.learn(number, handle(number), [this](std::uint32_t other) {
      ++asked;
      return handle(other);
    });
  }
};

TEST(NumberRange, KnowsNothingAtFirst) {
  const NumberRange range(4096);
  EXPECT_EQ(range.handle_of(4096), 0U);
  EXPECT_EQ(range.number_of(0x7f0000001000), 0U);
  EXPECT_EQ(range.number_of(0), 0U);
}

TEST(NumberRange, TheFirstSlotNeedsNoOther) {
  Arena arena;
  NumberRange range(4096);
  arena.tell(range, 4098);
  EXPECT_EQ(range.handle_of(4096 + 63), arena.base + 63);
  EXPECT_EQ(range.number_of(arena.base + 2), 4098U);
  EXPECT_EQ(range.handle_of(4096 + 64), 0U);
  EXPECT_EQ(range.number_of(arena.base + 64), 0U);
  EXPECT_EQ(range.number_of(arena.base - 1), 0U);
}

TEST(NumberRange, AllUpToTheHighestThatWasToldAreTheLibrarys) {
  Arena arena;
  NumberRange range(4096);
  arena.tell(range, 4097);
  arena.used = 6;
  arena.tell(range, 4096 + 64 * 4 + 7);
  for (std::uint32_t number = 4096; number < 4096 + 5 * 64; ++number) {
    EXPECT_EQ(range.handle_of(number), arena.handle(number)) << number;
    EXPECT_EQ(range.number_of(arena.handle(number)), number);
  }
  EXPECT_EQ(range.handle_of(4096 + 5 * 64), 0U);
  EXPECT_EQ(range.number_of(arena.base + 64), 0U) << "between two slots";
  EXPECT_EQ(range.number_of(arena.base + 1023), 0U);
}

TEST(NumberRange, WhatLiesElsewhereIsAskedForEachTime) {
  Arena arena{.used = 20};
  NumberRange range(4096);
  arena.tell(range, 4096 + 64 * 10);
  EXPECT_EQ(range.handle_of(4096 + 64 * 10), 0U);
  EXPECT_EQ(range.handle_of(4096), 0U);
  arena.tell(range, 4096 + 64 * 7);
  EXPECT_EQ(range.handle_of(4096 + 64 * 7), arena.handle(4096 + 64 * 7));
  EXPECT_EQ(range.number_of(arena.handle(4096 + 64 * 10)), 0U);
}

TEST(NumberRange, SlotsAtOddDistancesAreNotGuessed) {
  Arena arena{.stride = 1000, .used = 4};
  NumberRange range(4096);
  arena.tell(range, 4096 + 64);
  EXPECT_EQ(range.handle_of(4096 + 64), 0U);
  arena.tell(range, 4096);
  EXPECT_EQ(range.handle_of(4096), arena.base);
  EXPECT_EQ(range.handle_of(4096 + 64), 0U);
}

TEST(NumberRange, NumbersBelowTheFirstAreOfNobody) {
  Arena arena;
  NumberRange range(4096);
  arena.tell(range, 12);
  EXPECT_EQ(arena.asked, 0);
  EXPECT_EQ(range.handle_of(12), 0U);
}

TEST(NumberRanges, RequestsThatWereDoneHaveNumbersApart) {
  Arena done{
      .base = 0x560000000040, .stride = 64, .first = 1U << 30, .used = 256, .in_first_part = 256};
  NumberRanges ranges;
  done.tell(ranges.objects, (1U << 30) + 200);
  done.tell(ranges.done, (1U << 30) + 200);
  EXPECT_EQ(ranges.handle_of((1U << 30) + 130), done.base + 130);
  EXPECT_EQ(ranges.number_of(done.base + 255), (1U << 30) + 255);
  EXPECT_EQ(ranges.number_of(done.base + 256), 0U);
}

}  // namespace
}  // namespace fulmar::compat
