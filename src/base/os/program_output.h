// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fulmar::base {

/// The output and status of a program that was run for its version and the like.
struct ProgramOutput {
  enum class End : std::uint8_t { exited, killed, late, not_started };
  End end = End::not_started;
  int status = 0;    ///< exit code, signal, or errno of what kept it from starting
  std::string text;  ///< the start of what it wrote to either stream

  [[nodiscard]] bool good() const noexcept { return end == End::exited && status == 0; }
};

/// Runs `words` (the file first, as execvp takes it) with an empty standard input, in a process
/// group of its own, and collects at most 64 KiB of its output. Kills the group after
/// `deadline_ns`. For programs only: it waits for a child. Thread-safe.
ProgramOutput run_program(const std::vector<std::string>& words, std::uint64_t deadline_ns);

}  // namespace fulmar::base
