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

TEST(ForeignService, Programs_are_looked_for_where_a_launcher_would) {
  EXPECT_TRUE(is_there({"sh", {}, 1, "/", {}, {}}));
  EXPECT_TRUE(is_there({"bin/sh", {}, 1, "/", {}, {}}));
  EXPECT_TRUE(is_there({"sh", {}, 1, "/bin", {}, {}}));
  EXPECT_FALSE(is_there({"bin/sh", {}, 1, "/tmp", {}, {}}));
  EXPECT_FALSE(is_there({"no_such_program", {}, 1, "/", {}, {{"path", "/bin:/usr/bin"}}}));
  EXPECT_FALSE(is_there({"/etc/passwd", {}, 1, "/", {}, {}}));
  EXPECT_FALSE(is_there({"/bin", {}, 1, "/", {}, {}}));
}

/// A launcher that starts nothing and says that it has.
class Silent final : public bootstrap::Bootstrap {
 public:
  [[nodiscard]] const char* protocol() const noexcept override { return "none"; }
  base::Result<std::vector<std::uint32_t>> launcher_nodes() override {
    return std::vector<std::uint32_t>{};
  }
  base::Error publish(std::string_view, std::string_view) override { return {}; }
  base::Error fence() override { return {}; }
  base::Result<std::string> lookup(std::uint32_t, std::string_view) override {
    return std::string();
  }
  void abort(int, const char*) noexcept override {}
  base::Error finalize() override { return {}; }
  base::Error spawn(std::span<const bootstrap::StartOrder>, std::string_view) override {
    ++spawns;
    return {};
  }
  int spawns = 0;
};

TEST(ForeignService, A_job_that_does_not_connect_in_time_has_ended) {
  Silent launcher;
  ForeignService impatient(launcher, {1, false});
  ForeignService patient(launcher, {0, false});
  const std::vector<mpi::SpawnCommand> commands = {{"p", {}, 2, {{"soft", "1"}}}};
  for (ForeignService* service : {&impatient, &patient}) {
    EXPECT_EQ(service->spawned_job_ended("port"), "");
    const auto codes = service->spawn(commands, "port");
    ASSERT_TRUE(codes.ok());
    EXPECT_EQ(codes.value(), (std::vector<int>{0, static_cast<int>(base::ErrorClass::spawn)}));
  }
  while (impatient.spawned_job_ended("port").empty()) {
  }
  EXPECT_EQ(patient.spawned_job_ended("port"), "");
  EXPECT_NE(impatient.spawned_job_ended("port"), "");
  impatient.forget_spawned_job("port");
  EXPECT_EQ(impatient.spawned_job_ended("port"), "");
  EXPECT_EQ(impatient.spawned_job_ended("other"), "");
}

TEST(ForeignService, Missing_programs_are_refused_on_one_node_only) {
  Silent launcher;
  ForeignService on_one_node(launcher, {0, true});
  ForeignService on_several(launcher, {0, false});
  EXPECT_EQ(on_one_node.spawn({{"/no/such", {}, 1, {}}}, "p").error().error_class(),
            base::ErrorClass::spawn);
  EXPECT_EQ(launcher.spawns, 0);
  EXPECT_TRUE(on_one_node.spawn({{"/no/such", {}, 1, {{"host", "far"}}}}, "p").ok());
  EXPECT_TRUE(on_several.spawn({{"/no/such", {}, 1, {}}}, "p").ok());
  EXPECT_EQ(launcher.spawns, 2);
}

}  // namespace
}  // namespace fulmar::runtime
