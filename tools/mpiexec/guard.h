// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <span>

#include "base/error.h"
#include "base/os/fd.h"
#include "mpiexec/sessions.h"

namespace fulmar::mpiexec {

/// A small process that outlives mpiexec by a moment: when mpiexec disappears, by SIGKILL for
/// example, it kills every process of the ranks' sessions and ends. It is in a session of its own,
/// holds no descriptor but a socket whose other end closes with mpiexec, and calls itself
/// "fulmar-guard", so that `pkill mpiexec` does not hit it. It is cloned without an exit signal:
/// waiting for "any child" does not see it.
class Guard {
 public:
  /// `roster` must outlive this. `title` is the memory of mpiexec's arguments, which the guard
  /// overwrites with its own name (in its own copy); may be empty.
  Guard(const Roster& roster, std::span<char> title) : roster_(roster), title_(title) {}
  ~Guard() { stop(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// Starts it, or starts another one after the first was killed; returns when it has left
  /// mpiexec's process group. Fails (other) when no process can be made.
  base::Error start();
  /// Becomes readable when the guard dies.
  [[nodiscard]] int fd() const { return fd_.get(); }
  void stop();

 private:
  [[noreturn]] void run(int life) const;

  const Roster& roster_;
  std::span<char> title_;
  pid_t pid_ = 0;
  base::UniqueFd fd_;    ///< pidfd
  base::UniqueFd life_;  ///< the guard waits for its end
};

}  // namespace fulmar::mpiexec
