// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Several exclusive locks at a time: all ranks take them in the same order, so they cannot block each
// other, whichever windows and ranks they belong to.
// ranks: 2 3
// networks: tcp

#include <mpi.h>

#include "support/check.h"

namespace {

using test::expect_equal;

constexpr int rounds = 30;

/// A counter in the memory of each rank.
struct Counters {
  Counters() { MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win); }
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters() { MPI_Win_free(&win); }

  /// Reads the counter of a rank that is locked; complete after a flush.
  void get(long& value, int rank) const { MPI_Get(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win); }
  void put(const long& value, int rank) const {
    MPI_Put(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win);
  }
  void set_own(long value) const {
    const int rank = test::rank_of(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    *memory = value;
    MPI_Win_unlock(rank, win);
  }
  [[nodiscard]] long own() const {
    const int rank = test::rank_of(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    const long value = *memory;
    MPI_Win_unlock(rank, win);
    return value;
  }

  long* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
};

/// Adds 1 to the counter of `first` and 2 to that of `last`, while both are locked.
void add_under_two_locks(const Counters& one, int first, const Counters& other, int last) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first, 0, one.win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, other.win);
  long near = 0;
  long far = 0;
  one.get(near, first);
  other.get(far, last);
  MPI_Win_flush(first, one.win);
  MPI_Win_flush(last, other.win);
  near += 1;
  far += 2;
  one.put(near, first);
  other.put(far, last);
  MPI_Win_unlock(last, other.win);
  MPI_Win_unlock(first, one.win);
}

void check_counters(const Counters& one, const Counters& other, int last) {
  MPI_Barrier(MPI_COMM_WORLD);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  if (rank == 0) expect_equal(one.own(), long{rounds} * size, "the first counter");
  if (rank == last) expect_equal(other.own(), 2L * rounds * size, "the last counter");
  MPI_Barrier(MPI_COMM_WORLD);
}

void locks_of_two_windows() {
  const Counters one;
  const Counters other;
  const int last = test::size_of(MPI_COMM_WORLD) - 1;
  one.set_own(0);
  other.set_own(0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < rounds; ++i) add_under_two_locks(one, 0, other, last);
  check_counters(one, other, last);
}

void locks_of_two_ranks() {
  const Counters counters;
  const int last = test::size_of(MPI_COMM_WORLD) - 1;
  counters.set_own(0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < rounds; ++i) add_under_two_locks(counters, 0, counters, last);
  check_counters(counters, counters, last);
}

/// Ranks in turn take the first lock alone, or with those of all ranks by MPI_Win_lock_all, and wait
/// for it while they hold the last one.
void locks_of_all_ranks() {
  const Counters one;
  const Counters other;
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int last = test::size_of(MPI_COMM_WORLD) - 1;
  one.set_own(0);
  other.set_own(0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < rounds; ++i) {
    if ((rank + i) % 2 == 0) {
      add_under_two_locks(one, 0, other, last);
      continue;
    }
    const long increment = 1;
    MPI_Win_lock_all(0, one.win);
    MPI_Accumulate(&increment, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, one.win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, other.win);
    long far = 0;
    other.get(far, last);
    MPI_Win_flush(last, other.win);
    MPI_Win_flush(0, one.win);
    far += 2;
    other.put(far, last);
    MPI_Win_unlock(last, other.win);
    MPI_Win_unlock_all(one.win);
  }
  check_counters(one, other, last);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  locks_of_two_windows();
  locks_of_two_ranks();
  locks_of_all_ranks();
  return test::finish();
}
