// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Several threads in one epoch: they open targets, fetch and flush at the same time, and no increment is lost.
// ranks: 1 2 3

#include <mpi.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "rma/window.h"

namespace {

using test::expect_equal;
using test::Kind;
using test::Window;

constexpr int thread_count = 4;
constexpr int turns = 150;

void increment(const Window& window, int first, int size) {
  const std::int64_t one = 1;
  std::vector<std::int64_t> fetched(turns, -1);  // until the operations are complete
  for (int turn = 0; turn < turns; ++turn) {
    const int target = (first + turn) % size;
    std::int64_t& old = fetched[static_cast<std::size_t>(turn)];
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, window.at(target, 8), MPI_SUM, window.get());
    if (turn % 5 == 0) {
      MPI_Win_flush(target, window.get());
      test::expect(old >= 0, "what was fetched");
    }
    if (turn % 50 == 0) MPI_Win_flush_all(window.get());
  }
  MPI_Win_flush_all(window.get());
  for (const std::int64_t old : fetched) test::expect(old >= 0, "what was fetched");
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  for (const Kind kind : test::all_kinds) {
    const Window window(kind, 64);
    MPI_Win_lock_all(0, window.get());
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; ++i) {
      threads.emplace_back([&, i] { increment(window, rank + i, size); });
    }
    for (std::thread& thread : threads) thread.join();
    MPI_Win_unlock_all(window.get());
    MPI_Barrier(MPI_COMM_WORLD);
    std::int64_t sum = window.memory<std::int64_t>()[1];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect_equal(sum, std::int64_t{thread_count} * turns * size, "all increments");
  }
  return test::finish();
}
