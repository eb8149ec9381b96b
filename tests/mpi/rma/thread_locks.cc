// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Threads of one process lock different targets of one window, and of two windows: one that waits for its lock
// neither ends the epoch of another nor holds it up (MPI 5.0, 11.6.2 and 12.5.3).
// ranks: 3

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "rma/window.h"
#include "support/performance_variable.h"

namespace {

using test::expect_equal;
using test::Kind;
using test::Window;

/// Something that another thread brings about, or that shows in how often this process has waited for a lock;
/// whichever is first. Not for ever: the test is the same without, but finds less.
template <class Done>
void await_briefly(const test::PerformanceVariable& waits, unsigned long long count, Done&& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (waits.value() < count && !done() && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
}

void notify(int rank) { MPI_Send(nullptr, 0, MPI_INT, rank, 0, MPI_COMM_WORLD); }
void await_notice(int rank) {
  MPI_Recv(nullptr, 0, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Rank 0 holds its own lock until rank 1 says that it need not.
void hold_own_lock(const Window& window) {
  if (test::rank_of(MPI_COMM_WORLD) == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank_of(MPI_COMM_WORLD) != 0) return;
  await_notice(1);
  MPI_Win_unlock(0, window.get());
}

void expect_stored(const Window& window, int rank, std::size_t byte, int expected) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank_of(MPI_COMM_WORLD) != rank) return;
  expect_equal(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.get()), MPI_SUCCESS, "last lock");
  expect_equal(*(window.memory<int>() + byte / sizeof(int)), expected, "what was put");
  MPI_Win_unlock(rank, window.get());
}

void put_locked(const Window& window, int rank, int value) {
  expect_equal(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window.get()), MPI_SUCCESS, "lock");
  MPI_Put(&value, 1, MPI_INT, rank, window.at(rank, 0), 1, MPI_INT, window.get());
  expect_equal(MPI_Win_unlock(rank, window.get()), MPI_SUCCESS, "unlock");
}

/// While one thread waits for the lock of rank 0, another locks and unlocks rank 1.
void another_target(Kind kind) {
  const Window window(kind, 64);
  hold_own_lock(window);
  if (test::rank_of(MPI_COMM_WORLD) == 1) {
    const test::PerformanceVariable waits("rma_lock_waits");
    const auto before = waits.value();
    std::thread waiting([&] { put_locked(window, 0, 5); });
    await_briefly(waits, before + 1, [] { return false; });
    put_locked(window, 1, 6);
    notify(0);
    waiting.join();
  }
  expect_stored(window, 0, 0, 5);
  expect_stored(window, 1, 0, 6);
}

/// While one thread has asked for a lock of one window that it cannot have, another uses a window of its own. Rank 0
/// gives the lock back only then.
void another_window(Kind kind) {
  const Window held(kind, 64);
  const Window other(kind, 64);
  hold_own_lock(held);
  if (test::rank_of(MPI_COMM_WORLD) == 1) {
    const test::PerformanceVariable waits("rma_lock_waits");
    const auto before = waits.value();
    std::atomic<bool> has_asked = false;
    std::atomic<bool> is_over = false;
    std::thread waiting([&] {
      const int value = 7;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, held.get());
      MPI_Put(&value, 1, MPI_INT, 0, held.at(0, 0), 1, MPI_INT, held.get());
      has_asked = true;
      while (!is_over) std::this_thread::yield();
      MPI_Win_unlock(0, held.get());
    });
    await_briefly(waits, before + 1, [&] { return has_asked.load(); });
    put_locked(other, 0, 8);
    notify(0);
    is_over = true;
    waiting.join();
  }
  expect_stored(held, 0, 0, 7);
  expect_stored(other, 0, 0, 8);
}

/// Two threads of rank 1 start operations on rank 0 in one epoch of MPI_Win_lock_all, and rank 2 asks for the same lock
/// in between: it must not come between the two, which are over when it can have it.
void lock_all_of_two_threads(Kind kind) {
  const Window window(kind, 64);
  hold_own_lock(window);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const test::PerformanceVariable waits("rma_lock_waits");
  const auto before = waits.value();
  const auto put = [&](std::size_t byte, int value) {
    MPI_Put(&value, 1, MPI_INT, 0, window.at(0, byte), 1, MPI_INT, window.get());
    expect_equal(MPI_Win_flush(0, window.get()), MPI_SUCCESS, "flush");
  };
  if (rank == 1) {
    MPI_Win_lock_all(0, window.get());
    std::thread first([&] { put(0, 9); });
    await_briefly(waits, before + 1, [] { return false; });
    notify(2);
    await_notice(2);
    std::thread second([&] { put(4, 10); });
    await_briefly(waits, before + 2, [] { return false; });
    notify(0);
    first.join();
    second.join();
    MPI_Win_unlock_all(window.get());
  } else if (rank == 2) {
    await_notice(1);
    std::thread between([&] { put_locked(window, 0, 9); });
    await_briefly(waits, before + 1, [] { return false; });
    notify(1);
    between.join();
  }
  expect_stored(window, 0, 0, 9);
  expect_stored(window, 0, 4, 10);
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
  for (const Kind kind : test::all_kinds) {
    another_target(kind);
    another_window(kind);
    // In a window of shared memory MPI_Win_lock_all takes all locks itself.
    if (kind != Kind::shared) lock_all_of_two_threads(kind);
  }
  MPI_T_finalize();
  return test::finish();
}
