// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "support/check.h"

// A rank whose memory the others use after it has called the function that ends MPI.
namespace test {

constexpr int target = 0;

/// Waits until the process of the target has ended, which it should not: for a moment.
inline void let_end(pid_t process) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (::kill(process, 0) == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
}

inline pid_t process_of_target(MPI_Comm comm) {
  int process = static_cast<int>(::getpid());
  MPI_Bcast(&process, 1, MPI_INT, target, comm);
  return process;
}

/// To the first integer of the target.
inline void add_one(MPI_Win win) {
  const int one = 1;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  expect_equal(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win), MPI_SUCCESS, "lock");
  expect_equal(MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win), MPI_SUCCESS,
               "accumulate");
  expect_equal(MPI_Win_unlock(target, win), MPI_SUCCESS, "unlock");
}

}  // namespace test
