// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/launch/spawn_info.h"

#include <gtest/gtest.h>

namespace fulmar::wire {
namespace {

std::uint32_t soft(const char* text, std::uint32_t wanted) {
  const auto count = soft_count({{"soft", text}}, wanted);
  return count.ok() ? count.value() : 0;  // 0: refused
}

TEST(SpawnInfo, Soft_gives_the_largest_possible_number) {
  EXPECT_EQ(soft_count({}, 7).value(), 7U);
  EXPECT_EQ(soft("3", 7), 3U);
  EXPECT_EQ(soft("1,5,3", 4), 3U);
  EXPECT_EQ(soft("2:8", 5), 5U);
  EXPECT_EQ(soft("2:8:3", 7), 5U);
  EXPECT_EQ(soft("9:1:-4", 7), 5U);
  EXPECT_EQ(soft("10:1:-4", 7), 6U);
  EXPECT_EQ(soft(" 1 , 2 : 4 ", 9), 4U);
  EXPECT_EQ(soft("-3:2", 9), 2U);
}

TEST(SpawnInfo, Soft_that_is_none_is_refused) {
  for (const char* text : {"", "x", "1,", ",1", "1:", "1:2:", "1:2:0", "1:2:3:4", "1 2", "8", "0",
                           "5:4", "99999999999999999999", "-1"}) {
    EXPECT_EQ(soft(text, 7), 0U) << text;
  }
}

TEST(SpawnInfo, Own_keys_are_written_either_way) {
  const SpawnInfo info = {{"bind_to", "core"}, {"mpi_initial_errhandler", "x"}};
  EXPECT_EQ(info_value(info, "bind-to"), "core");
  EXPECT_EQ(info_value(info, "mpi_initial_errhandler"), "x");
  EXPECT_FALSE(info_value(info, "wdir").has_value());
}

TEST(SpawnInfo, Environment_is_lines_and_the_error_handler) {
  const auto settings =
      info_environment({{"env", "A=1\n\nB=x=y\n"}, {"mpi_initial_errhandler", "mpi_errors_abort"}});
  ASSERT_TRUE(settings.ok());
  const SpawnInfo expected = {{"A", "1"}, {"B", "x=y"}, {"FULMAR_ERRHANDLER", "mpi_errors_abort"}};
  EXPECT_EQ(settings.value(), expected);
  EXPECT_TRUE(info_environment({{"env", "A"}}).failed());
  EXPECT_TRUE(info_environment({{"env", "=1"}}).failed());
  EXPECT_TRUE(info_environment({{"mpi_initial_errhandler", "none"}}).failed());
}

TEST(SpawnInfo, Names_belong_to_the_folder_unless_they_are_whole) {
  EXPECT_EQ(from_folder("/a", "b"), "/a/b");
  EXPECT_EQ(from_folder("/a", "/b"), "/b");
  EXPECT_EQ(from_folder("", "b"), "b");
}

}  // namespace
}  // namespace fulmar::wire
