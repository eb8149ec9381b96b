// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/view/run_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace fulmar::mpi {
namespace {

using Word = RunList::Word;

constexpr Word row = Word{1} << 31;
constexpr Extent window{1000, 2000};

bool valid(std::vector<Word> words, Count bytes) {
  return RunList(std::move(words)).is_valid(window, bytes);
}

TEST(RunList, of_another_rank_is_checked) {
  EXPECT_TRUE(valid({}, 0));
  EXPECT_TRUE(valid({row | 0, 10, 20, 50}, 500));
  EXPECT_TRUE(valid({0, 10, 990, 10}, 20));
  EXPECT_FALSE(valid({row | 0, 10, 20, 50}, 501)) << "another number of bytes";
  EXPECT_FALSE(valid({row | 0, 10, 20, 51}, 510)) << "over the end";
  EXPECT_FALSE(valid({995, 10}, 10)) << "over the end";
  EXPECT_FALSE(valid({row | 0, 10, 5, 2}, 20)) << "over each other";
  EXPECT_FALSE(valid({0, 0}, 0)) << "nothing";
  EXPECT_FALSE(valid({row | 0, 10, 10, 0}, 0)) << "no piece";
  EXPECT_FALSE(valid({100, 10, 0, 10}, 20)) << "backwards";
  EXPECT_FALSE(valid({row | 0, UINT32_MAX, 10, 2}, 0)) << "far too long";
  EXPECT_FALSE(valid({row | 0, 1, UINT32_MAX, 500}, 500)) << "far too wide";
  EXPECT_FALSE(valid({row - 1, 1}, 1)) << "far away";
  EXPECT_FALSE(valid({0, 10, 20}, 10)) << "cut off";
  EXPECT_FALSE(valid({row | 0, 10, 20}, 10)) << "cut off";
  EXPECT_FALSE(RunList({0, 10}).is_valid({0, RunList::longest_window + 1}, 10));
}

TEST(RunList, is_visited_run_by_run) {
  const RunList list({5, 10, row | 100, 4, 8, 3});
  ASSERT_TRUE(list.is_valid(window, 22));
  EXPECT_FALSE(list.is_one_piece());
  std::vector<FileRun> runs;
  list.for_each(window, [&](const FileRun& run) {
    runs.push_back(run);
    return true;
  });
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].offset, 1005);
  EXPECT_EQ(runs[0].count, 1);
  EXPECT_EQ(runs[1].offset, 1100);
  EXPECT_EQ(runs[1].stride, 8);
  EXPECT_EQ(runs[1].count, 3);
  int visited = 0;
  list.for_each(window, [&](const FileRun&) { return ++visited < 1; });
  EXPECT_EQ(visited, 1);
  EXPECT_TRUE(RunList({5, 10}).is_one_piece());
  EXPECT_TRUE(RunList({row | 5, 10, 10, 7}).is_one_piece());
  EXPECT_EQ(RunList({row | 5, 10, 10, 7}).first(window), 1005);
}

/// So much memory another rank can make an aggregator take for its list: about four bytes for each of
/// the window.
TEST(RunList, of_another_rank_is_bounded) {
  const Extent large{0, 16 << 20};
  EXPECT_LE(RunList::most_words(large, INT64_MAX) * 4, 65 << 20);
  EXPECT_LE(RunList::most_words(large, 8), 16);
  EXPECT_GE(RunList::most_words({0, 1}, 1), 2);
}

}  // namespace
}  // namespace fulmar::mpi
