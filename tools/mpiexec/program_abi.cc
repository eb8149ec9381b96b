// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/program_abi.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "mpiexec/environment.h"

// Programs of other MPIs need libmpi.so.12 (MPICH) or libmpi.so.40 (Open MPI). As the names differ, both can be
// offered to every program, also to one that is started by a script, or loads MPI later, as Python does.

namespace fulmar::mpiexec {
namespace {

struct Library {
  ProgramAbi abi;
  const char* name;    ///< of the option's value
  const char* folder;  ///< below lib
  const char* file;
};
constexpr Library libraries[] = {
    {ProgramAbi::mpich, "mpich", "/fulmar/mpich-abi", "libmpi.so.12"},
    {ProgramAbi::openmpi, "openmpi", "/fulmar/openmpi-abi", "libmpi.so.40"},
    {ProgramAbi::standard, "standard", "", "libmpi_abi.so.1"},
};

constexpr std::string_view path_variable = "LD_LIBRARY_PATH";

}  // namespace

base::Result<std::vector<std::string>> library_folders(ProgramAbi abi,
                                                       const std::string& library_folder) {
  std::vector<std::string> folders;
  for (const Library& library : libraries) {
    const bool offered = abi == ProgramAbi::automatic && library.abi != ProgramAbi::standard;
    if (!offered && abi != library.abi) continue;
    std::string folder = library_folder + library.folder;
    const std::string file = folder + "/" + library.file;
    if (!library_folder.empty() && ::access(file.c_str(), R_OK) == 0) {
      folders.push_back(std::move(folder));
    } else if (!offered) {
      return base::failure(
          base::ErrorClass::arg,
          "--abi is \"%s\", but there is no %s; install Fulmar with the libraries for programs of "
          "other MPIs",
          library.name, file.c_str());
    }
  }
  return folders;
}

std::string own_library_folder() {
  char path[PATH_MAX];
  if (::realpath("/proc/self/exe", path) == nullptr) return {};
  std::string folder(path);
  for (int i = 0; i < 2; ++i) {
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos) return {};
    folder.resize(slash);
  }
  return folder + "/lib";
}

void offer_libraries(const std::vector<std::string>& folders,
                     std::vector<std::string>& environment) {
  if (folders.empty()) return;
  std::string path;
  for (const std::string& folder : folders) path += (path.empty() ? "" : ":") + folder;
  const char* before = find_variable(environment, path_variable);
  if (before != nullptr && *before != '\0') path += std::string(":") + before;
  std::erase_if(environment, [](const std::string& entry) {
    return std::string_view(entry).substr(0, entry.find('=')) == path_variable;
  });
  environment.push_back(std::string(path_variable) + "=" + path);
}

}  // namespace fulmar::mpiexec
