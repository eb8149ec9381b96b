// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// One exclusive lock that all ranks want all the time, more ranks than cores: all ranks get their turns to the end, and no
// two hold it together.
// ranks: 2 8
// timeout: 120

#include <mpi.h>

#include <cstdint>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

constexpr int turns = 100;

/// What lies in the memory of rank 0: how many locks there were, and of how many ranks the turns are over.
struct Words {
  std::int64_t locks = 0;
  std::int64_t done = 0;
};

/// Takes the lock, counts it, and gives it back. `adds`: to the ranks that are done.
Words lock_once(MPI_Win win, std::int64_t adds) {
  Words words;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Get(&words, 2, MPI_INT64_T, 0, 0, 2, MPI_INT64_T, win);
  MPI_Win_flush(0, win);
  words.locks += 1;
  words.done += adds;
  MPI_Put(&words, 2, MPI_INT64_T, 0, 0, 2, MPI_INT64_T, win);
  MPI_Win_unlock(0, win);
  return words;
}

/// Each rank in its turn gets the lock a hundred times from others who do not stop before it has.
std::int64_t take_turns(MPI_Win win, int rank, int size) {
  std::int64_t own = 0;
  for (int one = 0; one < size; ++one) {
    if (one == rank) {
      for (int i = 1; i <= turns; ++i) lock_once(win, i == turns ? 1 : 0);
      own += turns;
    } else {
      for (++own; lock_once(win, 0).done <= one;) ++own;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return own;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Words* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(sizeof(Words), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = {};
  MPI_Barrier(MPI_COMM_WORLD);
  const std::int64_t own = take_turns(win, rank, size);
  std::int64_t all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  Words words;
  MPI_Get(&words, 2, MPI_INT64_T, 0, 0, 2, MPI_INT64_T, win);
  MPI_Win_unlock(0, win);
  expect_equal(words.locks, all, "no lock was lost");
  expect_equal(words.done, size, "ranks that have had their turns");
  expect(own >= turns, "locks of this rank");
  MPI_Win_free(&win);
  return test::finish();
}
