// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Win_lock_all protects loads and stores of its caller, too: no rank gets an exclusive lock meanwhile.
// ranks: 2 3

#include <mpi.h>

#include <cstdint>

#include "rma/window.h"

namespace {

using test::expect_equal;
using test::Kind;
using test::Window;

/// Rank 0 holds all locks while the others want that of `target` to themselves, and add one there.
void check(const Window& window, int target, volatile std::int64_t* memory) {
  constexpr int polls = 2000;
  constexpr std::int64_t before = 0;
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    MPI_Win_lock_all(0, window.get());
    MPI_Barrier(MPI_COMM_WORLD);
    const std::int64_t first = *memory;
    for (int poll = 0; poll < polls; ++poll) {
      int flag = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      expect_equal(*memory, first, "memory under MPI_Win_lock_all");
    }
    expect_equal(first, before, "nobody was faster");
    MPI_Win_unlock_all(window.get());
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    std::int64_t value = 0;
    expect_equal(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.get()), MPI_SUCCESS, "lock");
    MPI_Get(&value, 1, MPI_INT64_T, target, window.at(target, 0), 1, MPI_INT64_T, window.get());
    MPI_Win_flush(target, window.get());
    ++value;
    MPI_Put(&value, 1, MPI_INT64_T, target, window.at(target, 0), 1, MPI_INT64_T, window.get());
    MPI_Win_unlock(target, window.get());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.get());
    expect_equal(*memory, before + test::size_of(MPI_COMM_WORLD) - 1, "afterwards");
    MPI_Win_unlock(target, window.get());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void check_neighbour() {
  const Window shared(Kind::shared, 64);
  MPI_Aint bytes = 0;
  int unit = 0;
  std::int64_t* memory = nullptr;
  MPI_Win_shared_query(shared.get(), 1, &bytes, &unit, &memory);
  check(shared, 1, memory);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const Kind kind : test::all_kinds) {
    const Window window(kind, 64);
    check(window, 0, window.memory<std::int64_t>());
  }
  check_neighbour();
  return test::finish();
}
