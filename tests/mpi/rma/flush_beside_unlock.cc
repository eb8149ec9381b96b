// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Win_flush_all is over when the operations on all locked targets are, also where another thread unlocks one
// of them meanwhile. Locks are asked for by requests here.
// ranks: 3
// env: FULMAR_FABRIC=tcp

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

constexpr int origin = 0;

void notify(int rank) { MPI_Send(nullptr, 0, MPI_INT, rank, 0, MPI_COMM_WORLD); }
void await_notice(int rank) {
  MPI_Recv(nullptr, 0, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Looks for a moment, in which what must not happen could.
bool comes_true_soon(const std::atomic<bool>& what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (!what && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return what;
}

/// The lock of `rank` is asked for, and an operation waits behind it. By a thread of its own: a thread gets its locks
/// one after the other.
void add_behind_lock(MPI_Win win, int rank, int& fetched) {
  std::thread([&fetched, win, rank] {
    const int value = 5;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Fetch_and_op(&value, &fetched, MPI_INT, rank, 0, MPI_SUM, win);
  }).join();
}

void flush_beside_unlock(MPI_Win win, int (*flush)(MPI_Win), int expected) {
  int first = -1;
  int second = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, origin, 0, win);
  add_behind_lock(win, 1, first);
  add_behind_lock(win, 2, second);
  std::atomic<bool> is_flushed = false;
  std::thread flushing([&] {
    expect_equal(flush(win), MPI_SUCCESS, "flush");
    is_flushed = true;
  });
  expect(!comes_true_soon(is_flushed), "a flush waits for the first target");
  MPI_Win_unlock(origin, win);
  notify(1);
  expect(!comes_true_soon(is_flushed), "a flush waits for the second target");
  notify(2);
  flushing.join();
  expect_equal(first, expected, "fetched from the first target");
  expect_equal(second, expected, "fetched from the second target");
  MPI_Win_unlock(1, win);
  MPI_Win_unlock(2, win);
}

/// The other ranks hold their own locks until the origin says that they need not.
void run(MPI_Win win, int (*flush)(MPI_Win), int expected) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  if (rank != origin) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == origin) {
    flush_beside_unlock(win, flush, expected);
  } else {
    await_notice(origin);
    MPI_Win_unlock(rank, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 0;
  run(win, MPI_Win_flush_all, 0);
  run(win, MPI_Win_flush_local_all, 5);
  MPI_Win_free(&win);
  return test::finish();
}
