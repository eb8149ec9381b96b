// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/process_end.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/os/fd.h"

namespace fulmar::base {

bool process_has_ended(pid_t pid) noexcept {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (process.valid()) {
    pollfd ended{process.get(), POLLIN, 0};
    return ::poll(&ended, 1, 0) == 1 && (ended.revents & POLLIN) != 0;
  }
  // Without a descriptor (an old kernel, a sandbox, too many open files).
  return ::kill(pid, 0) != 0 && errno == ESRCH;
}

std::uint64_t pid_space() noexcept {
  struct stat status{};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace fulmar::base
