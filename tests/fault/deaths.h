// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <fcntl.h>
#include <mpi-ext.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace test {

/// Tells when something happens in this process: a line of the file that FAULT_MARKS names, on a clock that all processes of
/// a host share (fault_support.py reads it). A process that is killed right afterwards has written it.
inline void mark(const char* what) {
  const char* const path = std::getenv("FAULT_MARKS");
  if (path == nullptr) return;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  ::dprintf(file, "%s %d %lld\n", what, static_cast<int>(::getpid()), static_cast<long long>(us));
  ::close(file);
}

[[noreturn]] inline void die() {
  mark("dies");
  (void)std::raise(SIGKILL);
  std::abort();
}

/// The process goes on until then.
inline void die_after(std::uint32_t us) {
  std::thread([us] {
    std::this_thread::sleep_for(std::chrono::microseconds(us));
    die();
  }).detach();
}

/// Whether a call failed because a process has, or because another one has given up the communicator.
inline bool is_failure(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_REVOKED;
}

/// A number that all ranks draw alike.
struct Dice {
  std::uint64_t state;
  std::uint32_t draw(std::uint32_t limit) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state >> 33) % limit;
  }
};

}  // namespace test
