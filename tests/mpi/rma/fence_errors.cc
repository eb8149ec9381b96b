// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Win_fence with something wrong in one rank: that rank has an error, and the fences of the others end
// and open their epochs as if all was well.
// ranks: 2 3 4

#include <mpi.h>

#include <cstdint>

#include "rma/window.h"

namespace {

using test::expect_class;
using test::expect_equal;
using test::Kind;
using test::Window;

int rank = 0;
int last = 0;

/// Each rank puts to its neighbour, in an epoch that is open in all of them.
void put_to_neighbour(const Window& window, std::int64_t value) {
  const int next = (rank + 1) % (last + 1);
  const std::int64_t sent = value + rank;
  expect_equal(
      MPI_Put(&sent, 1, MPI_INT64_T, next, window.at(next, 0), 1, MPI_INT64_T, window.get()),
      MPI_SUCCESS, "a put after the fence");
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  expect_equal(*window.memory<std::int64_t>(), value + (rank + last) % (last + 1), "what was put");
  MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, window.get());
}

/// The epoch opens there, too.
void check_assertion(const Window& window) {
  const int code = MPI_Win_fence(rank == last ? 1 << 30 : 0, window.get());
  expect_class(code, rank == last ? MPI_ERR_ASSERT : MPI_SUCCESS, "a fence with a wrong assertion");
  put_to_neighbour(window, 100);
}

/// A rank that has locked something keeps its epoch.
void check_other_epoch(const Window& window) {
  if (rank == last) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.get());
  const int code = MPI_Win_fence(0, window.get());
  expect_class(code, rank == last ? MPI_ERR_RMA_SYNC : MPI_SUCCESS, "a fence in another epoch");
  if (rank == last) {
    const std::int64_t value = 5;
    expect_equal(MPI_Put(&value, 1, MPI_INT64_T, 0, window.at(0, 8), 1, MPI_INT64_T, window.get()),
                 MPI_SUCCESS, "a put in the epoch that is still open");
    expect_equal(MPI_Win_unlock(0, window.get()), MPI_SUCCESS, "its end");
  }
  expect_equal(MPI_Win_fence(0, window.get()), MPI_SUCCESS, "the next fence");
  if (rank == 0) expect_equal(window.memory<std::int64_t>()[1], 5, "what was put meanwhile");
  put_to_neighbour(window, 200);
}

/// One that is exposed, too.
void check_exposed(const Window& window) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (rank == last) MPI_Win_post(world, 0, window.get());
  const int code = MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  expect_class(code, rank == last ? MPI_ERR_RMA_SYNC : MPI_SUCCESS, "a fence while exposed");
  MPI_Group target = MPI_GROUP_NULL;
  MPI_Group_incl(world, 1, &last, &target);
  expect_equal(MPI_Win_start(target, 0, window.get()), MPI_SUCCESS, "start");
  expect_equal(MPI_Win_complete(window.get()), MPI_SUCCESS, "complete");
  if (rank == last) expect_equal(MPI_Win_wait(window.get()), MPI_SUCCESS, "wait");
  expect_equal(MPI_Win_fence(0, window.get()), MPI_SUCCESS, "the next fence");
  put_to_neighbour(window, 300);
  MPI_Group_free(&target);
  MPI_Group_free(&world);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  last = test::size_of(MPI_COMM_WORLD) - 1;
  for (const Kind kind : test::all_kinds) {
    const Window window(kind, 64);
    check_assertion(window);
    check_other_epoch(window);
    check_exposed(window);
  }
  return test::finish();
}
