// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <string>

#include "base/os/fd.h"

namespace fulmar::mpiexec {

/// mpiexec's own stdout or stderr, written without ever blocking on a reader that is slow, and
/// without changing the flags of a descriptor that mpiexec shares with its parent (O_NONBLOCK there
/// would hit the user's shell). A pipe or terminal is opened a second time; where that is refused,
/// small writes follow a poll. Regular files are simply written.
class Sink {
 public:
  /// Borrows `fd`.
  explicit Sink(int fd);

  enum class Progress {
    done,     ///< all of the text was written
    blocked,  ///< the reader is slow: wait for EPOLLOUT on poll_fd()
    broken,   ///< the reader has gone; see error()
  };
  /// Writes what is possible now and removes it from `text`.
  Progress write_some(std::string& text);

  [[nodiscard]] int poll_fd() const { return own_.valid() ? own_.get() : fd_; }
  /// The errno of `broken`.
  [[nodiscard]] int error() const { return error_; }

 private:
  enum class Way { blocking, nonblocking, socket, polled };
  long write_once(const char* bytes, std::size_t count) const;

  int fd_;
  base::UniqueFd own_;
  Way way_ = Way::polled;
  int error_ = 0;
};

/// Whether two descriptors lead to the same file, pipe or terminal.
bool same_destination(int a, int b);

}  // namespace fulmar::mpiexec
