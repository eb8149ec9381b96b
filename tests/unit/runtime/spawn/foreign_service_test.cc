// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/foreign_service.h"

#include <gtest/gtest.h>

namespace fulmar::runtime {
namespace {

TEST(ForeignService, Info_is_split_into_what_we_do_and_what_the_launcher_does) {
  const auto order = order_of({"p",
                               {"a"},
                               5,
                               {{"soft", "1:4"},
                                {"env", "A=1"},
                                {"wdir", "sub"},
                                {"host", "n1"},
                                {"mpi_initial_errhandler", "mpi_errors_return"}}},
                              "/home");
  ASSERT_TRUE(order.ok()) << order.error().text();
  EXPECT_EQ(order.value().processes, 4U);
  EXPECT_EQ(order.value().folder, "/home/sub");
  EXPECT_EQ(order.value().environment,
            (wire::SpawnInfo{{"A", "1"}, {"FULMAR_ERRHANDLER", "mpi_errors_return"}}));
  EXPECT_EQ(order.value().info, (wire::SpawnInfo{{"host", "n1"}}));
}

TEST(ForeignService, Without_info_processes_run_where_the_parent_does) {
  const auto order = order_of({"p", {}, 1, {}}, "/home");
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order.value().folder, "/home");
  EXPECT_EQ(order.value().processes, 1U);
}

TEST(ForeignService, Nonsense_is_an_error_of_the_spawn) {
  for (const mpi::SpawnCommand& command : {mpi::SpawnCommand{"p", {}, 1, {{"soft", "x"}}},
                                           {"p", {}, 1, {{"env", "x"}}},
                                           {"p", {}, 1, {{"file", "/no/such/file"}}},
                                           {"p", {}, 0, {}},
                                           {"p", {}, 1, {{"mpi_initial_errhandler", "x"}}}}) {
    EXPECT_EQ(order_of(command, "/").error().error_class(), base::ErrorClass::spawn);
  }
}

}  // namespace
}  // namespace fulmar::runtime
