// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/sync/call_patience.h"

#include <gtest/gtest.h>

namespace fulmar::mpi {
namespace {

/// Operations until the next try.
unsigned skipped(CallPatience& patience) {
  unsigned count = 0;
  while (!patience.tries()) ++count;
  return count;
}

TEST(CallPatience, Every_operation_is_tried_at_first) {
  CallPatience patience;
  EXPECT_EQ(skipped(patience), 0U);
  EXPECT_EQ(skipped(patience), 0U);
}

TEST(CallPatience, Misses_in_a_row_double_what_is_skipped) {
  CallPatience patience;
  for (unsigned expected = 2; expected <= CallPatience::most_skips; expected *= 2) {
    patience.miss(false);
    EXPECT_EQ(skipped(patience), expected);
  }
  patience.miss(false);
  EXPECT_EQ(skipped(patience), CallPatience::most_skips);
}

TEST(CallPatience, A_hit_begins_anew) {
  CallPatience patience;
  for (int i = 0; i < 5; ++i) patience.miss(false);
  (void)skipped(patience);
  patience.hit();
  EXPECT_EQ(skipped(patience), 0U);
  patience.miss(false);
  EXPECT_EQ(skipped(patience), 2U);
}

TEST(CallPatience, A_rank_that_was_woken_is_tried_again_while_it_polls) {
  CallPatience patience;
  for (int i = 0; i < 20; ++i) {
    patience.miss(true);
    EXPECT_LE(skipped(patience), CallPatience::most_skips_asleep);
  }
  for (int i = 0; i < 20; ++i) patience.miss(false);
  (void)skipped(patience);
  patience.miss(true);  // it computed before, and sleeps now
  EXPECT_LE(skipped(patience), CallPatience::most_skips_asleep);
}

}  // namespace
}  // namespace fulmar::mpi
