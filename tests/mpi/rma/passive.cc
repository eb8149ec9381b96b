// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Passive target epochs: exclusive locks exclude, shared ones do not, no rank starves, flushes complete.
// ranks: 1 2 4 5
// timeout: 120

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "rma/window.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Kind;
using test::Window;

int rank = 0;
int size = 1;

/// Read and write apart, under an exclusive lock: no increment is lost.
void check_exclusive(const Window& window, int target) {
  constexpr int turns = 100;
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.get());
    std::int64_t value = -1;
    MPI_Get(&value, 1, MPI_INT64_T, target, window.at(target, 8), 1, MPI_INT64_T, window.get());
    MPI_Win_flush(target, window.get());
    ++value;
    MPI_Put(&value, 1, MPI_INT64_T, target, window.at(target, 8), 1, MPI_INT64_T, window.get());
    MPI_Win_unlock(target, window.get());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  std::int64_t value = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.get());
  MPI_Get(&value, 1, MPI_INT64_T, target, window.at(target, 8), 1, MPI_INT64_T, window.get());
  MPI_Win_unlock(target, window.get());
  expect_equal(value, std::int64_t{turns} * size, "increments under exclusive locks");
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Readers under shared locks see both halves of what writers change under exclusive ones.
void check_readers(const Window& window) {
  constexpr int turns = 100;
  constexpr int target = 0;
  for (int turn = 0; turn < turns; ++turn) {
    std::int64_t pair[2] = {-1, -2};
    if ((turn + rank) % 3 == 0) {
      pair[0] = pair[1] = 1000 * turn + rank;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.get());
      MPI_Put(&pair[0], 1, MPI_INT64_T, target, window.at(target, 64), 1, MPI_INT64_T,
              window.get());
      MPI_Win_flush(target, window.get());
      MPI_Put(&pair[1], 1, MPI_INT64_T, target, window.at(target, 128), 1, MPI_INT64_T,
              window.get());
      MPI_Win_unlock(target, window.get());
    } else {
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.get());
      MPI_Get(&pair[0], 1, MPI_INT64_T, target, window.at(target, 64), 1, MPI_INT64_T,
              window.get());
      MPI_Win_flush_local(target, window.get());
      MPI_Get(&pair[1], 1, MPI_INT64_T, target, window.at(target, 128), 1, MPI_INT64_T,
              window.get());
      MPI_Win_unlock(target, window.get());
      expect_equal(pair[0], pair[1], "what a reader sees");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Several targets locked at once, all flush forms, and many operations in one epoch.
void check_flushes(const Window& window) {
  for (int target = 0; target < size; ++target) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.get());
  }
  const auto own = static_cast<std::size_t>(rank);
  for (int target = 0; target < size; ++target) {
    for (int turn = 0; turn < 300; ++turn) {
      const std::int64_t value = turn + 1000 * rank;
      MPI_Put(&value, 1, MPI_INT64_T, target, window.at(target, 256 + 8 * own), 1, MPI_INT64_T,
              window.get());
      if (turn % 100 == 0) MPI_Win_flush_local(target, window.get());
    }
  }
  MPI_Win_flush_local_all(window.get());
  MPI_Win_flush_all(window.get());
  std::vector<std::int64_t> got(static_cast<std::size_t>(size), -1);
  for (int target = 0; target < size; ++target) {
    MPI_Get(&got[static_cast<std::size_t>(target)], 1, MPI_INT64_T, target,
            window.at(target, 256 + 8 * own), 1, MPI_INT64_T, window.get());
  }
  MPI_Win_flush_all(window.get());
  for (const std::int64_t value : got) expect_equal(value, 299 + 1000 * rank, "the last put");
  for (int target = 0; target < size; ++target) MPI_Win_unlock(target, window.get());
  MPI_Barrier(MPI_COMM_WORLD);
}

/// One waits for what another one puts, looking at its own memory.
void check_flag(const Window& window) {
  volatile std::int64_t* flag = window.memory<std::int64_t>() + 100;
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window.get());
  const std::int64_t value = 1;
  if (rank == 0) {
    for (int target = 1; target < size; ++target) {
      MPI_Accumulate(&value, 1, MPI_INT64_T, target, window.at(target, 800), 1, MPI_INT64_T,
                     MPI_REPLACE, window.get());
      MPI_Win_flush(target, window.get());
    }
  } else {
    while (*flag == 0) MPI_Win_sync(window.get());
  }
  MPI_Win_unlock_all(window.get());
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  for (const Kind kind : test::all_kinds) {
    const Window window(kind, 4096);
    check_exclusive(window, 0);
    if (size > 1) check_exclusive(window, size - 1);
    check_readers(window);
    check_flushes(window);
    check_flag(window);
  }
  return test::finish();
}
