// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/managers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace fulmar::mpiexec {
namespace {

namespace fs = std::filesystem;

const char* no_variable(const char* /*name*/) { return nullptr; }
const char* in_slurm(const char* name) {
  return std::strcmp(name, "SLURM_JOB_ID") == 0 ? "7" : nullptr;
}
const char* in_slurm_with_type(const char* name) {
  return std::strcmp(name, "SLURM_MPI_TYPE") == 0 ? "pmix" : in_slurm(name);
}

/// A folder with programs that print what they are told to.
class Folder {
 public:
  Folder() : path_(::testing::TempDir() + "fulmar_managers." + std::to_string(::getpid())) {
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  void add(const std::string& name, const std::string& says) const {
    std::ofstream(path_ + "/" + name) << "#!/bin/sh\necho '" << says << "'\n";
    fs::permissions(path_ + "/" + name, fs::perms::owner_all);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr const char* hydra_says = "HYDRA build details: Version: 4.0";
constexpr const char* fulmar_says = "mpiexec (Fulmar) 0.1";

Manager kind_found(const Folder& folder, const char* (*variable)(const char*) = no_variable,
                   Manager wanted = Manager::automatic) {
  const auto found = find_manager(wanted, {folder.path(), variable});
  return found.ok() ? found.value().kind : Manager::automatic;
}

TEST(Managers, Nobody_is_an_error_that_says_what_to_install) {
  const Folder folder;
  const auto found = find_manager(Manager::automatic, {folder.path(), no_variable});
  ASSERT_TRUE(found.failed());
  EXPECT_NE(found.error().text().find("apt install"), std::string::npos);
  EXPECT_NE(find_manager(Manager::prte, {"", no_variable}).error().text().find("prterun"),
            std::string::npos);
}

TEST(Managers, Prterun_comes_before_hydra) {
  const Folder folder;
  folder.add("mpiexec.hydra", hydra_says);
  EXPECT_EQ(kind_found(folder), Manager::hydra);
  folder.add("prterun", "prterun (PRRTE) 3.0");
  EXPECT_EQ(kind_found(folder), Manager::prte);
  EXPECT_EQ(kind_found(folder, no_variable, Manager::hydra), Manager::hydra);
}

TEST(Managers, Srun_counts_in_an_allocation_only) {
  const Folder folder;
  folder.add("srun", "MPI plugin types are... none pmix pmi2");
  folder.add("prterun", "prterun (PRRTE) 3.0");
  EXPECT_EQ(kind_found(folder), Manager::prte);
  EXPECT_EQ(kind_found(folder, in_slurm), Manager::slurm);
  EXPECT_EQ(kind_found(folder, no_variable, Manager::slurm), Manager::slurm);
  const auto plugin_in = [&](const char* (*variable)(const char*)) {
    return find_manager(Manager::slurm, {folder.path(), variable}).value().plugin;
  };
  EXPECT_EQ(plugin_in(in_slurm), "pmi2");
  EXPECT_EQ(plugin_in(in_slurm_with_type), "");
  folder.add("srun", "none pmix pmix_v4");
  EXPECT_EQ(plugin_in(in_slurm), "pmix");
}

TEST(Managers, Our_own_mpiexec_is_passed_over) {
  const Folder folder;
  folder.add("mpiexec", fulmar_says);
  EXPECT_EQ(kind_found(folder), Manager::automatic);
  folder.add("mpirun", hydra_says);
  const auto found = find_manager(Manager::automatic, {folder.path(), no_variable});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().file, folder.path() + "/mpirun");
}

TEST(Managers, A_folder_or_a_plain_file_is_no_program) {
  const Folder folder;
  fs::create_directories(folder.path() + "/prterun");
  std::ofstream(folder.path() + "/mpiexec.hydra") << "not executable";
  EXPECT_EQ(kind_found(folder), Manager::automatic);
}

TEST(Managers, Makers_are_known_by_their_words) {
  EXPECT_EQ(maker_of(hydra_says), Manager::hydra);
  EXPECT_EQ(maker_of("Intel(R) MPI Library for Linux* OS, Version 2021.18"), Manager::hydra);
  EXPECT_EQ(maker_of("mpirun (Open MPI) 5.0.11"), Manager::prte);
  EXPECT_EQ(maker_of("mpirun (Open MPI) 4.1.4"), Manager::automatic);
  EXPECT_EQ(maker_of(fulmar_says), Manager::automatic);
  EXPECT_EQ(maker_of(""), Manager::automatic);
}

}  // namespace
}  // namespace fulmar::mpiexec
