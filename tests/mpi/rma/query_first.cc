// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Win_shared_query of MPI_PROC_NULL means the same rank everywhere, the first one with memory (12.2.3): also where
// ranks of other nodes, which cannot reach that, have memory of their own (tests/cluster/test_messages.py).
// ranks: 2 4

#include <mpi.h>

#include "rma/window.h"

namespace {

using test::expect_equal;

/// Whether a rank of the world shares memory with this one.
bool is_near(int wanted) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group near = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(node, &near);
  int there = MPI_UNDEFINED;
  MPI_Group_translate_ranks(world, 1, &wanted, near, &there);
  MPI_Group_free(&world);
  MPI_Group_free(&near);
  MPI_Comm_free(&node);
  return there != MPI_UNDEFINED;
}

/// Rank 0 has none; the first with memory is rank 1.
void check_first_with_memory() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const bool near = is_near(1);
  const int count = 4 * rank;
  int* own = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(static_cast<MPI_Aint>(sizeof(int)) * count, sizeof(int), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &own, &win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < count; ++i) own[i] = 100 * rank + i;
  MPI_Win_fence(0, win);
  MPI_Aint size = -1;
  int unit = -1;
  int* memory = nullptr;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &memory);
  expect_equal(size, near ? static_cast<MPI_Aint>(4 * sizeof(int)) : 0, "size of rank 1");
  if (near) expect_equal(memory[3], 103, "memory of rank 1");
  MPI_Win_free(&win);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check_first_with_memory();
  return test::finish();
}
