// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/access/wait_forecast.h"

#include <gtest/gtest.h>

namespace fulmar::mpi {
namespace {

/// How many in a row it takes until the next one is expected to be awaited at once.
int needed(WaitForecast& forecast) {
  int row = 0;
  for (; !forecast.at_once(); ++row) forecast.note(true);
  return row;
}

TEST(WaitForecast, A_row_of_accesses_that_were_awaited_at_once_is_expected_to_go_on) {
  WaitForecast forecast;
  EXPECT_FALSE(forecast.at_once());
  EXPECT_EQ(needed(forecast), WaitForecast::first_needed);
  forecast.note(true);
  EXPECT_TRUE(forecast.at_once());
}

TEST(WaitForecast, One_that_was_not_begins_a_new_row) {
  WaitForecast forecast;
  for (int i = 1; i < WaitForecast::first_needed; ++i) forecast.note(true);
  forecast.note(false);
  EXPECT_FALSE(forecast.at_once());
  EXPECT_EQ(needed(forecast), WaitForecast::first_needed) << "nothing was lost by it";
}

TEST(WaitForecast, Each_wrong_forecast_doubles_the_row_up_to_a_limit) {
  WaitForecast forecast;
  for (int expected = WaitForecast::first_needed; expected < WaitForecast::most_needed;
       expected *= 2) {
    EXPECT_EQ(needed(forecast), expected);
    forecast.note(false);
    EXPECT_FALSE(forecast.at_once());
  }
  EXPECT_EQ(needed(forecast), WaitForecast::most_needed);
  forecast.note(false);
  EXPECT_EQ(needed(forecast), WaitForecast::most_needed);
}

}  // namespace
}  // namespace fulmar::mpi
