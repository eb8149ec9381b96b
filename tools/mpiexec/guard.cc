// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/guard.h"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "mpiexec/clock.h"

namespace fulmar::mpiexec {
namespace {

constexpr char guard_name[] = "fulmar-guard";

void close_all_but(int kept) {
  const auto fd = static_cast<unsigned>(kept);
  if (fd > 0) ::syscall(SYS_close_range, 0U, fd - 1, 0U);
  ::syscall(SYS_close_range, fd + 1, ~0U, 0U);
}

}  // namespace

base::Error Guard::start() {
  stop();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return base::failure(base::ErrorClass::other, "no socket to the guard process: %s",
                         std::strerror(errno));
  }
  base::UniqueFd guard_end(ends[0]);
  life_.reset(ends[1]);
  int fd = -1;
  const long pid = ::syscall(SYS_clone, CLONE_PIDFD, nullptr, &fd, nullptr, nullptr);
  if (pid == 0) run(guard_end.get());
  if (pid < 0) {
    return base::failure(base::ErrorClass::other, "cannot start the guard process: %s",
                         std::strerror(errno));
  }
  pid_ = static_cast<pid_t>(pid);
  fd_.reset(fd);
  guard_end.reset();
  // Before that it belongs to mpiexec's process group, and is killed with it.
  char ready = 0;
  while (::read(life_.get(), &ready, 1) < 0 && errno == EINTR) {
  }
  return {};
}

void Guard::run(int life) const {
  ::setsid();
  ::prctl(PR_SET_NAME, guard_name);
  if (title_.size() >= sizeof guard_name) {
    std::fill(title_.begin(), title_.end(), '\0');
    std::copy(std::begin(guard_name), std::end(guard_name), title_.begin());
  }
  close_all_but(life);
  if (::chdir("/") != 0) ::_exit(1);
  const char ready = 1;
  (void)::send(life, &ready, 1, MSG_NOSIGNAL);
  pollfd entry{life, POLLIN, 0};
  while (::poll(&entry, 1, -1) < 0 && errno == EINTR) {
  }
  const std::vector<pid_t> sessions = roster_.sessions();
  sweep_sessions(sessions, 5 * ns_per_s);
  ::_exit(0);
}

void Guard::stop() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, __WCLONE);
  pid_ = 0;
  fd_.reset();
  life_.reset();
}

}  // namespace fulmar::mpiexec
