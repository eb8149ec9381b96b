// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/bootstrap/detect.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace fulmar::runtime::bootstrap {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr int open_socket = 7;
const Variables* current = nullptr;

base::Result<Launcher> detect_in(const Variables& variables) {
  current = &variables;
  return detect({[](const char* name) {
                   const auto entry = current->find(name);
                   return entry == current->end() ? nullptr : entry->second.c_str();
                 },
                 [](int descriptor) { return descriptor == open_socket; }});
}

void expect(Launcher launcher, const Variables& variables) {
  const auto found = detect_in(variables);
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found.value(), launcher);
}

void expect_refused(const Variables& variables, const char* word) {
  const auto found = detect_in(variables);
  ASSERT_TRUE(found.failed());
  EXPECT_NE(found.error().text().find(word), std::string::npos) << found.error().text();
}

TEST(Detect, Each_launcher_by_itself) {
  expect(Launcher::none, {});
  expect(Launcher::own_mpiexec, {{"FULMAR_JOB_FD", "3"}});
  expect(Launcher::own_mpiexec, {{"FULMAR_JOB_SOCKET", "x"}});
  expect(Launcher::pmi1, {{"PMI_FD", "7"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  expect(Launcher::pmi1, {{"PMI_PORT", "host:1"}, {"PMI_ID", "0"}});
  expect(Launcher::pmix, {{"PMIX_NAMESPACE", "job"}, {"PMIX_RANK", "0"}});
}

TEST(Detect, Own_mpiexec_offers_pmi_too) {
  expect(Launcher::own_mpiexec,
         {{"FULMAR_JOB_FD", "3"}, {"PMI_FD", "7"}, {"FULMAR_PMI_FD", "7"}, {"PMI_SIZE", "2"}});
}

TEST(Detect, The_inner_launcher_wins) {
  expect(Launcher::pmi1, {{"FULMAR_JOB_FD", "3"}, {"FULMAR_PMI_FD", "5"}, {"PMI_FD", "7"}});
  expect(Launcher::pmi1, {{"PMIX_NAMESPACE", "job"}, {"PMIX_RANK", "0"}, {"PMI_FD", "7"}});
  expect(Launcher::pmix, {{"FULMAR_JOB_FD", "3"}, {"PMIX_NAMESPACE", "j"}, {"PMIX_RANK", "0"}});
  expect(Launcher::pmix, {{"PMI_FD", "8"}, {"PMIX_NAMESPACE", "j"}, {"PMIX_RANK", "0"}});
}

TEST(Detect, Ranks_that_could_not_find_each_other_are_refused) {
  expect_refused({{"SLURM_STEP_NUM_TASKS", "2"}}, "--mpi=pmix");
  expect_refused({{"OMPI_COMM_WORLD_SIZE", "4"}}, "OMPI_COMM_WORLD_SIZE=4");
  expect_refused({{"PMI_RANK", "1"}}, "PMI_FD");
  expect_refused({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}, {"PMI_FD", "8"}}, "PMI_FD");
  expect_refused({{"PMIX_RANK", "1"}}, "PMIX_NAMESPACE");
  expect_refused({{"PALS_RANKID", "3"}}, "PALS");
  expect_refused({{"SLURM_STEP_NUM_TASKS", "many"}}, "many");
}

TEST(Detect, One_task_is_no_job) {
  expect(Launcher::none, {{"SLURM_STEP_NUM_TASKS", "1"}});
  expect(Launcher::none, {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}});
  expect(Launcher::none, {{"PMI_FD", ""}, {"PMIX_RANK", ""}});
  expect(Launcher::none, {{"FULMAR_PMI_FD", "7"}, {"PMI_FD", "7"}, {"PMI_SIZE", "2"}});
}

}  // namespace
}  // namespace fulmar::runtime::bootstrap
