// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "mpiexec/options.h"
#include "mpiexec/poller.h"

namespace fulmar::mpiexec {

/// mpiexec's standard input for the ranks.
///
/// One rank that reads a file, a pipe or a socket simply inherits the descriptor: nothing is read
/// that it does not read itself, so `while read x; do mpiexec ...; done < list` works. A terminal
/// cannot be handed on to another session, and several readers need copies: then mpiexec reads and
/// writes into pipes, as fast as the slowest reader takes it. A terminal is only read while mpiexec
/// is in its foreground.
class Input {
 public:
  Input(Poller& poller, StdinTo to, std::uint32_t chosen_rank);

  /// What a rank is to have as descriptor 0: `fd`, or `own` which is closed here after the start.
  struct RankEnd {
    int fd = 0;
    base::UniqueFd own;
  };
  /// Fails (other) when descriptors run out.
  base::Result<RankEnd> connect_rank(std::uint32_t rank);

  void on_input();
  void on_target(std::uint32_t index);
  /// When to check again whether mpiexec is in the foreground; never_ns otherwise.
  [[nodiscard]] std::int64_t deadline() const { return retry_ns_; }
  void on_time(std::int64_t now_ns);

 private:
  struct Target {
    base::UniqueFd fd;
    std::size_t done = 0;  ///< bytes of the present chunk already written
    bool watched = false;
  };
  void watch_input();
  void pause_input();
  void write_chunk(std::uint32_t index);
  void next_step();
  void end_input();

  Poller& poller_;
  StdinTo to_;
  std::uint32_t chosen_rank_;
  bool terminal_;
  bool watched_ = false;
  bool ended_ = false;
  bool always_ready_ = false;  ///< a regular file
  std::int64_t retry_ns_;
  base::UniqueFd null_;
  std::vector<Target> targets_;
  std::string chunk_;
};

}  // namespace fulmar::mpiexec
