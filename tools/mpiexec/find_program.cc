// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/find_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fulmar::mpiexec {
namespace {

enum class Check { missing, unusable, usable };

/// `file` relative to `wdir`.
Check check_file(const std::string& file, const std::string& wdir, std::string& problem) {
  const std::string seen = file.starts_with('/') || wdir.empty() ? file : wdir + "/" + file;
  struct stat status{};
  if (::stat(seen.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return Check::missing;
    problem = std::strerror(errno);
    return Check::unusable;
  }
  if (S_ISDIR(status.st_mode)) {
    problem = "it is a folder";
    return Check::unusable;
  }
  if (::access(seen.c_str(), X_OK) != 0) {
    problem = "it is not executable (chmod +x makes it so)";
    return Check::unusable;
  }
  return Check::usable;
}

/// Collects the outcome over several candidates: the first usable one wins, else the first unusable
/// one is what the user hears about.
class Search {
 public:
  explicit Search(const std::string& wdir) : wdir_(wdir) {}

  bool try_file(const std::string& file) {
    std::string problem;
    const Check check = check_file(file, wdir_, problem);
    if (check == Check::usable) {
      found = {file, 0, {}};
      return true;
    }
    if (check == Check::unusable && found.exit_code == 127) found = {file, 126, problem};
    return false;
  }

  bool try_folders(std::string_view folders, const std::string& name) {
    while (!folders.empty()) {
      const std::size_t at = std::min(folders.find(':'), folders.size());
      std::string file(at == 0 ? "." : folders.substr(0, at));
      file += '/';
      if (try_file(file += name)) return true;
      folders.remove_prefix(std::min(at + 1, folders.size()));
    }
    return false;
  }

  FoundProgram found;

 private:
  const std::string& wdir_;
};

}  // namespace

FoundProgram find_program(const std::string& name, const std::string& wdir, std::string_view first,
                          std::string_view path) {
  Search search(wdir);
  const bool plain = name.find('/') == std::string::npos;
  if (plain) {
    if (search.try_folders(first, name) || search.try_folders(path, name) ||
        search.try_file("./" + name)) {
      return search.found;
    }
  } else if (search.try_file(name)) {
    return search.found;
  }
  if (search.found.exit_code == 127) {
    search.found.problem =
        plain ? "not found in PATH, nor in the folder it would run in" : "no such file";
  }
  return search.found;
}

}  // namespace fulmar::mpiexec
