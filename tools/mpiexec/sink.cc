// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace fulmar::mpiexec {

Sink::Sink(int fd) : fd_(fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return;
  if (S_ISREG(status.st_mode)) {
    way_ = Way::blocking;
  } else if (S_ISSOCK(status.st_mode)) {
    way_ = Way::socket;
  } else {
    const std::string name = "/proc/self/fd/" + std::to_string(fd);
    own_.reset(::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (own_.valid()) way_ = Way::nonblocking;
  }
}

long Sink::write_once(const char* bytes, std::size_t count) const {
  switch (way_) {
    case Way::blocking:
      return ::write(fd_, bytes, count);
    case Way::nonblocking:
      return ::write(own_.get(), bytes, count);
    case Way::socket:
      return ::send(fd_, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    case Way::polled:
      break;
  }
  pollfd ready{fd_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(fd_, bytes, std::min<std::size_t>(count, PIPE_BUF));
}

Sink::Progress Sink::write_some(std::string& text) {
  std::size_t done = 0;
  Progress progress = Progress::done;
  while (done < text.size()) {
    const long count = write_once(text.data() + done, text.size() - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && errno == EAGAIN) {
      progress = Progress::blocked;
      break;
    } else {
      error_ = errno;
      progress = Progress::broken;
      break;
    }
  }
  text.erase(0, done);
  return progress;
}

bool same_destination(int a, int b) {
  struct stat first{};
  struct stat second{};
  if (::fstat(a, &first) != 0 || ::fstat(b, &second) != 0) return false;
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino &&
         first.st_rdev == second.st_rdev;
}

}  // namespace fulmar::mpiexec
