// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/bench/restart.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace fulmar::bench {

bool started_by_launcher() {
  for (const char* name : {"FULMAR_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"}) {
    if (std::getenv(name) != nullptr) {
      return true;
    }
  }
  return false;
}

std::string restart(int ranks, const std::vector<std::string>& arguments) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return "cannot find this program's own file (/proc/self/exe): " + error.message() +
           "; start it with mpiexec -n " + std::to_string(ranks);
  }
  const std::string launcher = (self.parent_path() / "mpiexec").string();
  std::vector<std::string> words{launcher, "-n", std::to_string(ranks), self.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  execv(launcher.c_str(), pointers.data());
  return "cannot start " + launcher + ": " + std::strerror(errno) +
         "; start this program with the mpiexec of " + "your installation: mpiexec -n " +
         std::to_string(ranks) + " fulmar bench";
}

}  // namespace fulmar::bench
