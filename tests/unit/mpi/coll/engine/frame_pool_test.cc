// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/engine/frame_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace fulmar::mpi {
namespace {

TEST(FramePool, a_freed_block_serves_the_next_call) {
  FramePool pool;
  void* first = pool.allocate(700);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 16, 0U);
  std::memset(first, 0xff, 700);
  FramePool::free(first);
  EXPECT_EQ(pool.kept(), 1U);
  EXPECT_EQ(pool.allocate(690), first);
  EXPECT_EQ(pool.kept(), 0U);
  FramePool::free(first);
}

TEST(FramePool, very_large_blocks_are_not_kept) {
  FramePool pool;
  void* block = pool.allocate(100000);
  std::memset(block, 0, 100000);
  FramePool::free(block);
  EXPECT_EQ(pool.kept(), 0U);
}

TEST(FramePool, keeps_a_few_of_many) {
  FramePool pool;
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(pool.allocate(300));
  for (void* block : blocks) FramePool::free(block);
  EXPECT_EQ(pool.kept(), 32U);
}

}  // namespace
}  // namespace fulmar::mpi
