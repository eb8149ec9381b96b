// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Post, start, complete, wait and test between some of the ranks, and fences with assertions.
// ranks: 1 2 4 5
// timeout: 120

#include <mpi.h>

#include <vector>

#include "rma/window.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Kind;
using test::Window;

int rank = 0;
int size = 1;

MPI_Group group_of(const std::vector<int>& ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Group_free(&world);
  return group;
}

/// A ring: every rank is exposed to the one before and accesses the one after; short and long data.
void check_ring(const Window& window) {
  const int to = (rank + 1) % size;
  const int from = (rank + size - 1) % size;
  MPI_Group targets = group_of({to});
  MPI_Group origins = group_of({from});
  for (const int length : {1, 500, 30'000}) {
    for (int turn = 0; turn < 5; ++turn) {
      const std::vector<int> values(static_cast<std::size_t>(length), 100 * turn + rank);
      MPI_Win_post(origins, 0, window.get());
      MPI_Win_start(targets, 0, window.get());
      MPI_Put(values.data(), length, MPI_INT, to, window.at(to, 0), length, MPI_INT, window.get());
      MPI_Win_complete(window.get());
      if (turn % 2 == 0) {
        MPI_Win_wait(window.get());
      } else {
        for (int done = 0; done == 0;) MPI_Win_test(window.get(), &done);
      }
      const int* here = window.memory<int>();
      expect(here[0] == 100 * turn + from && here[length - 1] == 100 * turn + from, "ring");
    }
  }
  MPI_Group_free(&targets);
  MPI_Group_free(&origins);
}

/// All access rank 0, which only waits, and gets a different sum each time.
void check_star(const Window& window) {
  std::vector<int> others;
  for (int other = 1; other < size; ++other) others.push_back(other);
  MPI_Group origins = group_of(others);
  MPI_Group target = group_of({0});
  for (int turn = 0; turn < 10; ++turn) {
    if (rank == 0) {
      window.memory<int>()[5] = 0;
      MPI_Win_post(origins, 0, window.get());
      MPI_Win_wait(window.get());
      expect_equal(window.memory<int>()[5], (size - 1) * (turn + 1), "sum of a star");
    } else {
      const int value = turn + 1;
      int fetched = -1;
      MPI_Win_start(target, 0, window.get());
      MPI_Accumulate(&value, 1, MPI_INT, 0, window.at(0, 20), 1, MPI_INT, MPI_SUM, window.get());
      MPI_Get(&fetched, 1, MPI_INT, 0, window.at(0, 24), 1, MPI_INT, window.get());
      MPI_Win_complete(window.get());
      expect(fetched != -1, "a get is complete at the origin");
    }
  }
  MPI_Group_free(&origins);
  MPI_Group_free(&target);
}

void check_fences(const Window& window) {
  const int to = (rank + 1) % size;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window.get());
  const int value = rank;
  MPI_Put(&value, 1, MPI_INT, to, window.at(to, 64), 1, MPI_INT, window.get());
  MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, window.get());
  expect_equal(window.memory<int>()[16], (rank + size - 1) % size, "put between fences");
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  // A fence in which nothing happens may be followed by other epochs.
  MPI_Win_fence(0, window.get());
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window.get());
  expect_equal(MPI_Win_unlock(to, window.get()), MPI_SUCCESS, "lock after a fence");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  for (const Kind kind : test::all_kinds) {
    const Window window(kind, 1 << 20);
    check_ring(window);
    MPI_Barrier(MPI_COMM_WORLD);
    check_star(window);
    MPI_Barrier(MPI_COMM_WORLD);
    check_fences(window);
  }
  return test::finish();
}
