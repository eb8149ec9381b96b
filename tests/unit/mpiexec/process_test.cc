// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "mpiexec/environment.h"
#include "mpiexec/find_program.h"
#include "mpiexec/outcome.h"
#include "mpiexec/sessions.h"

namespace fulmar::mpiexec {
namespace {

TEST(Environment, Outer_job_is_hidden_and_options_stay) {
  for (const char* name : {"PMI_RANK", "PMI_FD", "PMIX_RANK", "FULMAR_JOB_FD", "FULMAR_JOB_SOCKET",
                           "FULMAR_RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID"}) {
    EXPECT_TRUE(describes_outer_job(name)) << name;
  }
  for (const char* name : {"FULMAR_FABRIC", "PATH", "OMPI_MCA_btl", "OMP_NUM_THREADS"}) {
    EXPECT_FALSE(describes_outer_job(name)) << name;
  }
}

TEST(Environment, Rules_are_applied_from_the_widest_to_the_narrowest) {
  const char* outer[] = {"PATH=/bin", "A=outer", "PMI_RANK=3", "B=1", nullptr};
  EnvRules global;
  global.settings = {{"A", "global"}, {"C", "global"}};
  EnvRules program;
  program.settings = {{"A", "program"}};
  const auto all = program_environment(outer, global, program);
  EXPECT_STREQ(find_variable(all, "A"), "program");
  EXPECT_STREQ(find_variable(all, "B"), "1");
  EXPECT_STREQ(find_variable(all, "C"), "global");
  EXPECT_EQ(find_variable(all, "PMI_RANK"), nullptr);

  program.passed = std::vector<std::string>{"B"};
  const auto few = program_environment(outer, global, program);
  EXPECT_EQ(find_variable(few, "PATH"), nullptr);
  EXPECT_STREQ(find_variable(few, "B"), "1");
  EXPECT_STREQ(find_variable(few, "A"), "program");
}

TEST(Environment, Rank_variables_are_complete) {
  const auto list = rank_environment({9, 2, 4, 1, {}, -1, 3});
  EXPECT_STREQ(find_variable(list, "FULMAR_JOB_FD"), "9");
  EXPECT_STREQ(find_variable(list, "FULMAR_RANK"), "2");
  EXPECT_STREQ(find_variable(list, "FULMAR_SIZE"), "4");
  EXPECT_STREQ(find_variable(list, "FULMAR_LOCAL_RANK"), "2");
  EXPECT_STREQ(find_variable(list, "FULMAR_LOCAL_SIZE"), "4");
  EXPECT_STREQ(find_variable(list, "FULMAR_APPNUM"), "1");
  EXPECT_STREQ(find_variable(list, "FULMAR_PROGRAM_SIZE"), "3");
  EXPECT_EQ(find_variable(list, "FULMAR_JOB_SOCKET"), nullptr);
  const auto with_socket = rank_environment({9, 2, 4, 1, "name"});
  EXPECT_STREQ(find_variable(with_socket, "FULMAR_JOB_SOCKET"), "name");
}

TEST(Outcome, Zero_is_fine_unless_inside_mpi) {
  using Way = RankEnd::Way;
  EXPECT_FALSE(judge({Way::exited, 0, wire::RankState::started, 0}).failed);
  EXPECT_FALSE(judge({Way::exited, 0, wire::RankState::finalized, 0}).failed);
  const Verdict verdict = judge({Way::exited, 0, wire::RankState::initialised, 0});
  EXPECT_TRUE(verdict.failed);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_NE(verdict.what.find("MPI_Finalize"), std::string::npos);
}

TEST(Outcome, Codes_signals_and_aborts_become_exit_codes) {
  using Way = RankEnd::Way;
  EXPECT_EQ(judge({Way::exited, 3, wire::RankState::finalized, 0}).exit_code, 3);
  EXPECT_EQ(judge({Way::signalled, SIGSEGV, wire::RankState::initialised, 0}).exit_code, 139);
  EXPECT_NE(judge({Way::signalled, SIGSEGV, wire::RankState::initialised, 0}).what.find("SIGSEGV"),
            std::string::npos);
  EXPECT_EQ(judge({Way::exited, 7, wire::RankState::aborted, 7}).exit_code, 7);
  EXPECT_EQ(judge({Way::signalled, SIGTERM, wire::RankState::aborted, 0}).exit_code, 1);
  EXPECT_EQ(judge({Way::exited, 0, wire::RankState::aborted, 256}).exit_code, 1);
}

TEST(Sessions, Stat_is_parsed_whatever_the_name_of_the_process) {
  const auto plain = parse_stat("12 (sh) S 1 12 12 0 -1 4194304\n");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->state, 'S');
  EXPECT_EQ(plain->parent, 1);
  EXPECT_EQ(plain->session, 12);
  const auto nasty = parse_stat("12 (a) R 5 6 7 (b) Z 21 22 23 0\n");
  ASSERT_TRUE(nasty.has_value());
  EXPECT_EQ(nasty->state, 'Z');
  EXPECT_EQ(nasty->session, 23);
  for (const char* text :
       {"", "12", "12 (sh)", "12 (sh) ", "12 (sh) S", "12 (sh) S x y z", "12 (sh) S 1 2"}) {
    EXPECT_FALSE(parse_stat(text).has_value()) << text;
  }
}

TEST(Sessions, Roster_lists_started_ranks_sorted) {
  auto roster = Roster::create(3);
  ASSERT_TRUE(roster.ok());
  roster->slot(0).store(30);
  roster->slot(2).store(20);
  EXPECT_EQ(roster->sessions(), (std::vector<pid_t>{20, 30}));
}

TEST(Sessions, Descent_is_known_by_own_session_or_that_of_an_ancestor) {
  const std::vector<pid_t> ours = {::getsid(0)};
  const std::vector<pid_t> parents = {::getsid(::getppid())};
  EXPECT_TRUE(descends_from(::getpid(), ours));
  EXPECT_TRUE(descends_from(::getpid(), parents));
  EXPECT_FALSE(descends_from(::getpid(), {}));
  EXPECT_FALSE(descends_from(0, ours));
  EXPECT_FALSE(descends_from(-1, ours));
  const std::vector<pid_t> nobody = {2147483646};
  EXPECT_FALSE(descends_from(::getppid(), nobody));
}

/// A folder with an executable, a plain file and a subfolder.
class FindProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root_ + "/sub");
    std::ofstream(root_ + "/tool") << "#!/bin/sh\n";
    std::ofstream(root_ + "/text") << "text\n";
    std::filesystem::permissions(root_ + "/tool", std::filesystem::perms::owner_all);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string root_ = ::testing::TempDir() + "fulmar_find_program." + std::to_string(::getpid());
};

TEST_F(FindProgram, Path_then_own_folder_are_searched) {
  EXPECT_EQ(find_program("tool", "", root_, "").file, root_ + "/tool");
  EXPECT_EQ(find_program("tool", "", "", "/nonexistent:" + root_).file, root_ + "/tool");
  EXPECT_EQ(find_program("tool", root_, "", "/nonexistent").file, "./tool");
  EXPECT_EQ(find_program("./tool", root_, "", "").file, "./tool");
}

TEST_F(FindProgram, What_is_not_there_is_127_and_what_cannot_run_is_126) {
  EXPECT_EQ(find_program("nothing", "", root_, "").exit_code, 127);
  EXPECT_EQ(find_program("./nothing", root_, "", "").exit_code, 127);
  EXPECT_EQ(find_program("text", "", root_, "").exit_code, 126);
  EXPECT_EQ(find_program(root_ + "/sub", "", "", "").exit_code, 126);
  EXPECT_NE(find_program(root_ + "/sub", "", "", "").problem.find("folder"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::mpiexec
