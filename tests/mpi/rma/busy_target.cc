// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A target that computes without MPI, also on another host: what others put, get and accumulate under its lock is
// carried out all the same, by the progress thread that its window has started.
// ranks: 2 3
// networks: tcp

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "rma/window.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Kind;
using test::Window;
using Clock = std::chrono::steady_clock;

int rank = 0;
int size = 1;

/// Polls its memory until the last origin has changed it; gives up after a while.
bool wait_without_mpi(const std::atomic<std::int64_t>& word, std::int64_t goal) {
  constexpr std::chrono::seconds patience(30);
  const auto begin = Clock::now();
  while (word.load(std::memory_order_acquire) != goal) {
    if (Clock::now() - begin > patience) return false;
    ::sched_yield();
  }
  return true;
}

/// Word 0 counts under the lock, word 1 by accumulates; word 2 gets what the target computes with.
void reach(Kind kind, int lock) {
  constexpr int rounds = 20;
  const Window window(kind, 3 * sizeof(std::int64_t));
  if (rank == 0) {
    const auto* const here = window.memory<std::atomic<std::int64_t>>();
    expect(wait_without_mpi(here[1], std::int64_t{rounds} * (size - 1)), "all accumulates come");
    if (lock == MPI_LOCK_EXCLUSIVE) {
      expect(wait_without_mpi(here[0], std::int64_t{rounds} * (size - 1)), "all puts come");
    }
  } else {
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t one = 1;
      std::int64_t value = 0;
      MPI_Win_lock(lock, 0, 0, window.get());
      MPI_Get(&value, 1, MPI_INT64_T, 0, window.at(0, 0), 1, MPI_INT64_T, window.get());
      MPI_Win_flush(0, window.get());
      ++value;
      MPI_Put(&value, 1, MPI_INT64_T, 0, window.at(0, lock == MPI_LOCK_EXCLUSIVE ? 0 : 16), 1,
              MPI_INT64_T, window.get());
      MPI_Win_flush(0, window.get());
      MPI_Accumulate(&one, 1, MPI_INT64_T, 0, window.at(0, 8), 1, MPI_INT64_T, MPI_SUM,
                     window.get());
      expect_equal(MPI_Win_unlock(0, window.get()), MPI_SUCCESS, "the unlock");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Windows without passive target epochs start no thread.
void start_nothing() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  std::int64_t word = 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(&word, sizeof word, 1, info, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  const std::int64_t one = 1;
  MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  if (rank == 0) expect_equal(word, size, "the sum of a fence");
  MPI_Win_free(&win);
  MPI_Info_free(&info);
}

int make_window(MPI_Comm /*comm*/, int /*keyval*/, void* /*value*/, void* /*state*/) {
  std::int64_t word = 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  return MPI_Win_free(&win);
}

/// A window that is made in a function of the program, inside another call: that call goes on as it began,
/// without the lock of the library, so the thread has to wait for a later window.
void make_window_inside_a_call() {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, make_window, &keyval, nullptr);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, keyval, &keyval);
  expect_equal(MPI_Comm_free(&comm), MPI_SUCCESS, "the call around it");
  MPI_Comm_free_keyval(&keyval);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  make_window_inside_a_call();
  start_nothing();
  for (const Kind kind : {Kind::create, Kind::allocate}) {
    reach(kind, MPI_LOCK_SHARED);
    reach(kind, MPI_LOCK_EXCLUSIVE);
  }
  return test::finish();
}
