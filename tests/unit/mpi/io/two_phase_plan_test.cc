// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <array>

#include "mpi/io/collective/two_phase.h"

namespace fulmar::mpi {
namespace {

TEST(Extents, Are_sorted_and_joined) {
  std::vector<Extent> extents{{10, 20}, {0, 5}, {20, 30}, {12, 15}, {40, 50}, {5, 6}};
  merge(extents);
  ASSERT_EQ(extents.size(), 3U);
  EXPECT_EQ(extents[0].first, 0);
  EXPECT_EQ(extents[0].end, 6);
  EXPECT_EQ(extents[1].first, 10);
  EXPECT_EQ(extents[1].end, 30);
  EXPECT_EQ(extents[2].end, 50);
}

RankPart part(Count first, Count end, Count bytes, Count run) {
  RankPart made;
  made.first = first;
  made.end = end;
  made.bytes = bytes;
  made.mean_run_bytes = run;
  return made;
}

/// Of a call that is made now.
CommonCourse course(const OpenFile& file) { return {file, Direction::write}; }
CommonCourse course(OpenFile& file, io::Use use) {
  file.hints.two_phase_write = use;
  return course(file);
}

TEST(TwoPhasePlan, Windows_cover_the_whole_once) {
  OpenFile file;
  file.aggregators = 3;
  file.hints.window_bytes = 8192;
  const std::array parts{part(5000, 90000, 100, 4), part(0, 0, 0, 0), part(70000, 99999, 50, 4)};
  const TwoPhasePlan plan(parts, course(file), file.aggregators);
  EXPECT_EQ(plan.aggregators, 3);
  Count at = 4096;  // where the unit begins
  for (int aggregator = 0; aggregator < plan.aggregators; ++aggregator) {
    for (Count round = 0; round < plan.rounds; ++round) {
      const Extent window = plan.window(aggregator, round);
      if (window.first == window.end) continue;
      EXPECT_EQ(window.first, at);
      EXPECT_LE(window.end - window.first, 8192);
      at = window.end;
    }
  }
  EXPECT_EQ(at, 99999);
}

TEST(TwoPhasePlan, Nothing_to_move_needs_no_round) {
  OpenFile file;
  const std::array parts{part(0, 0, 0, 0), part(0, 0, 0, 0)};
  EXPECT_EQ(TwoPhasePlan(parts, course(file), file.aggregators).rounds, 0);
}

/// All ranks know it before a call, so none has to be asked.
TEST(TwoPhase, Is_never_worth_it_where_no_view_has_short_runs) {
  OpenFile file;
  EXPECT_TRUE(is_never_worth_exchange(course(file, io::Use::automatic), file, 2))
      << "the view of MPI_File_open";
  EXPECT_FALSE(is_never_worth_exchange(course(file, io::Use::always), file, 2));
  file.least_mean_run_bytes = 100;
  EXPECT_FALSE(is_never_worth_exchange(course(file, io::Use::automatic), file, 2));
  EXPECT_TRUE(is_never_worth_exchange(course(file, io::Use::never), file, 2));
  EXPECT_TRUE(is_never_worth_exchange(course(file, io::Use::always), file, 1));
}

TEST(TwoPhase, Is_worth_it_where_short_runs_lie_between_each_other) {
  OpenFile file;
  file.least_mean_run_bytes = 100;
  const auto worth = [&](const std::array<RankPart, 2>& parts) {
    return is_worth_exchange(parts, course(file, io::Use::automatic), file);
  };
  const std::array between{part(0, 10000, 5000, 100), part(100, 10100, 5000, 100)};
  EXPECT_TRUE(worth(between));
  EXPECT_FALSE(worth({part(0, 10000, 5000, 100), part(10000, 20000, 5000, 100)})) << "apart";
  EXPECT_FALSE(worth({part(0, 9000000, 5000000, 1 << 20), part(100, 9000000, 5000000, 1 << 20)}))
      << "long runs";
  EXPECT_FALSE(is_worth_exchange(between, course(file, io::Use::never), file));
  EXPECT_TRUE(is_worth_exchange(std::array{part(0, 5, 5, 5), part(5, 10, 5, 5)},
                                course(file, io::Use::always), file));
  auto backward = between;
  backward[1].backward = 1;
  EXPECT_FALSE(worth(backward)) << "one view is not forward";
  EXPECT_FALSE(is_worth_exchange(backward, course(file, io::Use::always), file));
  file.atomic = true;
  EXPECT_FALSE(worth(between)) << "atomic mode has locks";
}

TEST(TwoPhase, Is_not_worth_it_where_short_runs_go_through_mapped_memory) {
  OpenFile file;
  file.least_mean_run_bytes = 100;
  file.system.maps = true;
  const std::array near{part(0, 10000, 5000, 100), part(100, 10100, 5000, 100)};
  EXPECT_FALSE(is_worth_exchange(near, course(file, io::Use::automatic), file));
  EXPECT_TRUE(is_worth_exchange(near, course(file, io::Use::always), file));
  // A run of 100 bytes in 16 KiB of the file: too many pages for what is in them.
  const std::array far{part(0, 50 << 14, 5000, 100), part(100, 50 << 14, 5000, 100)};
  EXPECT_TRUE(is_worth_exchange(far, course(file, io::Use::automatic), file));
  file.hints.mapped = io::Use::never;
  EXPECT_TRUE(is_worth_exchange(near, course(file, io::Use::automatic), file));
}

}  // namespace
}  // namespace fulmar::mpi
