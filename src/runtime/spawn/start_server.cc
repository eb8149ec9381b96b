// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The mpiexec of a process that no launcher started. It is found beside the library: a program that
// somebody started without mpiexec may have any other mpiexec in its PATH.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/spawn/mpiexec_service.h"

extern char** environ;

namespace fulmar::runtime {
namespace {

using base::ErrorClass;
using base::failure;

/// The socket's number in the server.
constexpr int server_end = 3;

/// The folder of the shared object, or program, that this code is in.
std::string own_folder() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&start_spawn_server), &found) == 0 ||
      found.dli_fname == nullptr) {
    return {};
  }
  std::array<char, PATH_MAX> file{};
  if (::realpath(found.dli_fname, file.data()) == nullptr) return {};
  const std::string name = file.data();
  return name.substr(0, name.rfind('/'));
}

/// Whether this is a folder of libraries: lib, lib64 and their like.
bool has_libraries(std::string_view folder) noexcept {
  return folder.substr(folder.rfind('/') + 1).starts_with("lib");
}

/// An mpiexec of another MPI may lie anywhere else, as in /bin for a program in /tmp/here.
std::vector<std::string> candidates() {
  std::vector<std::string> files;
  const std::string folder = own_folder();
  const std::string above = folder.substr(0, folder.rfind('/'));
  if (has_libraries(folder)) files.push_back(above + "/bin/mpiexec");
  if (has_libraries(above)) files.push_back(above + "/../bin/mpiexec");  // lib/TRIPLET
  if (!folder.empty()) files.push_back(folder + "/mpiexec");             // a program in bin
  std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  while (!path.empty()) {
    const std::string part = path.substr(0, path.find(':'));
    path.erase(0, part.size() + 1);
    if (!part.empty()) files.push_back(part + "/mpiexec");
  }
  return files;
}

std::string find_mpiexec() {
  for (const std::string& file : candidates()) {
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

/// Returns 0 or an errno. The server gets an empty standard input, the signals as they are by
/// default, and no descriptor of the program but 1 and 2.
int start(const std::string& file, int socket, pid_t& pid) {
  const std::string number = std::to_string(server_end);
  std::vector<char*> argv = {const_cast<char*>(file.c_str()),
                             const_cast<char*>(wire::spawn_server_option),
                             const_cast<char*>(number.c_str()), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (::posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  if (::posix_spawnattr_init(&attributes) != 0) {
    ::posix_spawn_file_actions_destroy(&actions);
    return ENOMEM;
  }
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  ::sigfillset(&signals);
  ::posix_spawnattr_setsigdefault(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, socket, server_end);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, server_end + 1);
  const int reason = ::posix_spawn(&pid, file.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return reason;
}

}  // namespace

base::Result<base::UniqueFd> start_spawn_server() {
  const std::string file = find_mpiexec();
  if (file.empty()) {
    return failure(ErrorClass::other,
                   "this process was started without a launcher, and there is no mpiexec of Fulmar "
                   "beside its library or in PATH that could serve it; start it with mpiexec -n 1");
  }
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return failure(ErrorClass::other, "no socket to an mpiexec can be made: %s",
                   std::strerror(errno));
  }
  base::UniqueFd own(ends[0]);
  const base::UniqueFd other(ends[1]);
  pid_t pid = 0;
  if (const int reason = start(file, other.get(), pid); reason != 0) {
    return failure(ErrorClass::other, "%.300s cannot be started: %s", file.c_str(),
                   std::strerror(reason));
  }
  // It goes on in a process of its own, which is no child of the program.
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return own;
}

}  // namespace fulmar::runtime
