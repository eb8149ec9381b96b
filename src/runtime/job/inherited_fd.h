// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/stat.h>
#include <unistd.h>

namespace fulmar::runtime {

/// A descriptor that the launcher has left open for this process. The program may have closed it since, and
/// its number may belong to something else.
class InheritedFd {
 public:
  /// None.
  InheritedFd() noexcept = default;
  explicit InheritedFd(int fd) noexcept : fd_(fd) { known_ = ::fstat(fd, &seen_) == 0; }

  /// The descriptor if it is still the same file, else -1.
  [[nodiscard]] int get() const noexcept {
    struct stat now{};
    const bool same = known_ && ::fstat(fd_, &now) == 0 && now.st_dev == seen_.st_dev &&
                      now.st_ino == seen_.st_ino;
    return same ? fd_ : -1;
  }
  /// Closes it if it is still the same file.
  void close() noexcept {
    if (const int fd = get(); fd >= 0) ::close(fd);
    known_ = false;
  }

 private:
  int fd_ = -1;
  bool known_ = false;
  struct stat seen_{};
};

}  // namespace fulmar::runtime
