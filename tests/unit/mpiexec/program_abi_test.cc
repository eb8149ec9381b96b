// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/program_abi.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace fulmar::mpiexec {
namespace {

/// A folder like lib of an installation.
class Libraries : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_), nullptr);
    ASSERT_EQ(::mkdir((lib() + "/fulmar").c_str(), 0700), 0);
    install("/fulmar/mpich-abi", "/libmpi.so.12");
  }
  void TearDown() override {
    const std::string command = "rm -r " + lib();
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  [[nodiscard]] std::string lib() const { return folder_; }
  void install(const std::string& folder, const std::string& file) {
    ::mkdir((lib() + folder).c_str(), 0700);
    FILE* made = std::fopen((lib() + folder + file).c_str(), "w");
    ASSERT_NE(made, nullptr);
    std::fclose(made);
  }

 private:
  char folder_[32] = "/tmp/fulmar-libraries-XXXXXX";
};

using Folders = std::vector<std::string>;

TEST_F(Libraries, What_is_installed_is_offered) {
  EXPECT_EQ(library_folders(ProgramAbi::automatic, lib()).value(),
            Folders{lib() + "/fulmar/mpich-abi"});
  install("/fulmar/openmpi-abi", "/libmpi.so.40");
  EXPECT_EQ(library_folders(ProgramAbi::automatic, lib()).value(),
            (Folders{lib() + "/fulmar/mpich-abi", lib() + "/fulmar/openmpi-abi"}));
  EXPECT_EQ(library_folders(ProgramAbi::openmpi, lib()).value(),
            Folders{lib() + "/fulmar/openmpi-abi"});
}

TEST_F(Libraries, None_are_offered_where_none_are_wanted) {
  EXPECT_TRUE(library_folders(ProgramAbi::none, lib()).value().empty());
  EXPECT_TRUE(library_folders(ProgramAbi::automatic, "").value().empty());
}

TEST_F(Libraries, An_abi_that_is_asked_for_has_to_be_installed) {
  const auto folders = library_folders(ProgramAbi::openmpi, lib());
  ASSERT_TRUE(folders.failed());
  EXPECT_NE(folders.error().text().find("libmpi.so.40"), std::string::npos);
  EXPECT_NE(folders.error().text().find("openmpi"), std::string::npos);
}

TEST_F(Libraries, The_standard_library_is_offered_by_name_only) {
  install("", "/libmpi_abi.so.1");
  EXPECT_EQ(library_folders(ProgramAbi::standard, lib()).value(), Folders{lib()});
  EXPECT_EQ(library_folders(ProgramAbi::automatic, lib()).value().size(), 1U);
}

TEST(LibraryPath, Folders_come_before_those_of_the_user) {
  Folders environment = {"A=1", "LD_LIBRARY_PATH=/x:/y", "B=2"};
  offer_libraries({"/m", "/o"}, environment);
  EXPECT_EQ(environment, (Folders{"A=1", "B=2", "LD_LIBRARY_PATH=/m:/o:/x:/y"}));
}

TEST(LibraryPath, An_empty_path_adds_no_folder) {
  Folders environment = {"LD_LIBRARY_PATH="};
  offer_libraries({"/m"}, environment);
  EXPECT_EQ(environment, Folders{"LD_LIBRARY_PATH=/m"});
  Folders untouched = {"A=1"};
  offer_libraries({}, untouched);
  EXPECT_EQ(untouched, Folders{"A=1"});
}

}  // namespace
}  // namespace fulmar::mpiexec
