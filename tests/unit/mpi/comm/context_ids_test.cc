// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <set>

#include "mpi/comm/world.h"

namespace fulmar::mpi {
namespace {

TEST(ContextIds, numbers_leave_room_for_bits_and_the_predefined_ones) {
  ContextIds ids;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t id = ids.take();
    EXPECT_EQ(id % ContextIds::step, 0U);
    EXPECT_GT(id, ContextIds::group_creation);
  }
}

TEST(ContextIds, never_run_out_and_skip_what_is_in_use) {
  constexpr std::uint32_t limit = ContextIds::first + 10 * ContextIds::step;
  ContextIds ids(limit);
  const std::uint32_t kept = ids.take();
  for (int i = 0; i < 100000; ++i) {
    const std::uint32_t id = ids.take();
    ASSERT_NE(id, kept);
    ASSERT_LT(id, limit);
    ids.give_back(id);
  }
}

TEST(ContextIds, freed_number_comes_last) {
  ContextIds ids(ContextIds::first + 10 * ContextIds::step);
  const std::uint32_t first = ids.take();
  ids.give_back(first);
  std::set<std::uint32_t> others;
  for (int i = 0; i < 9; ++i) others.insert(ids.take());
  EXPECT_EQ(others.size(), 9U);
  EXPECT_EQ(others.count(first), 0U);
  EXPECT_EQ(ids.take(), first);
}

}  // namespace
}  // namespace fulmar::mpi
