// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/os/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/clock.h"
#include "base/os/fd.h"

namespace fulmar::base {
namespace {

constexpr std::size_t most_bytes = 64U << 10;

/// What posix_spawn is to do with descriptors and signals.
class SpawnPlan {
 public:
  explicit SpawnPlan(int output) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, 1);
    ::posix_spawn_file_actions_adddup2(&actions, output, 2);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes, 0);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

/// Reads until the end, the deadline (false), or most_bytes.
bool collect(int from, std::uint64_t end_ns, std::string& text) {
  std::array<char, 4096> buffer{};
  while (text.size() < most_bytes) {
    const std::uint64_t now = now_ns();
    if (now >= end_ns) return false;
    pollfd waiting{from, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>((end_ns - now) / 1'000'000 + 1));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return true;
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return true;
}

/// Whether the child ends before the deadline; it stays to be reaped, so that its number is not
/// given to others yet. A descendant may have kept it waiting after the pipe was closed.
bool ends_until(pid_t child, std::uint64_t end_ns) {
  constexpr timespec pause{0, 2'000'000};
  while (true) {
    siginfo_t ended{};
    const int result =
        ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (result == 0 && ended.si_pid == child) return true;
    if (result != 0 && errno != EINTR) return true;
    if (now_ns() >= end_ns) return false;
    ::nanosleep(&pause, nullptr);
  }
}

/// Ends what is left of the group, and the child.
int reap(pid_t child) {
  int status = 0;
  ::kill(-child, SIGKILL);
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

}  // namespace

ProgramOutput run_program(const std::vector<std::string>& words, std::uint64_t deadline_ns) {
  ProgramOutput result;
  const std::uint64_t end_ns = now_ns() + deadline_ns;
  std::array<int, 2> ends{};
  if (words.empty() || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    result.status = words.empty() ? EINVAL : errno;
    return result;
  }
  UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const SpawnPlan plan(to.get());
  pid_t child = 0;
  result.status =
      ::posix_spawnp(&child, argv[0], &plan.actions, &plan.attributes, argv.data(), environ);
  if (result.status != 0) return result;
  to.reset();
  const bool complete = collect(from.get(), end_ns, result.text);
  from.reset();
  const bool in_time = complete && ends_until(child, end_ns);
  const int status = reap(child);
  if (!in_time) {
    result.end = ProgramOutput::End::late;
    return result;
  }
  result.end = WIFEXITED(status) ? ProgramOutput::End::exited : ProgramOutput::End::killed;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  return result;
}

}  // namespace fulmar::base
