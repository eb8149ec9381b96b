// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Datatypes of targets with long descriptions, used again and again, more of them than a target keeps;
// some are freed and others made in between, and operations with long data are under way meanwhile.
// ranks: 2 4
// networks: tcp verbs

#include <mpi.h>

#include <vector>

#include "rma/window.h"

namespace {

using test::expect_equal;
using test::Kind;
using test::Window;

constexpr int types_in_use = 12;
constexpr int rounds = 8;
constexpr int blocks = 200;
constexpr int largest_block = 40;
constexpr int space = blocks * (largest_block + 3);

/// Blocks of `block` integers at uneven distances, and where their integers are.
struct Uneven {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<int> places;
};

Uneven make_uneven(int number) {
  const int block = number % 4 == 0 ? largest_block : 1 + number % 3;
  std::vector<int> begins;
  Uneven made;
  for (int i = 0; i < blocks; ++i) {
    begins.push_back(i * (block + 2) + i * (number + 1) % 2);
    for (int k = 0; k < block; ++k) made.places.push_back(begins.back() + k);
  }
  MPI_Type_create_indexed_block(blocks, block, begins.data(), MPI_INT, &made.type);
  MPI_Type_commit(&made.type);
  return made;
}

void use(Kind kind, bool fences) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const int next = (rank + 1) % size;
  const Window window(kind, sizeof(int) * types_in_use * space);
  const MPI_Win win = window.get();
  std::vector<Uneven> types;
  for (int i = 0; i < types_in_use; ++i) types.push_back(make_uneven(i));
  std::vector<std::vector<int>> values(types_in_use);
  if (!fences) MPI_Win_lock_all(0, win);
  for (int round = 0; round < rounds; ++round) {
    if (fences) MPI_Win_fence(0, win);
    for (int i = 0; i < types_in_use; ++i) {
      const Uneven& each = types[static_cast<std::size_t>(i)];
      std::vector<int>& own = values[static_cast<std::size_t>(i)];
      const int count = static_cast<int>(each.places.size());
      own.assign(each.places.size(), 1000 * rank + 10 * round + i);
      const MPI_Aint at = window.at(next, sizeof(int) * static_cast<std::size_t>(i) * space);
      expect_equal(MPI_Put(own.data(), count, MPI_INT, next, at, 1, each.type, win), MPI_SUCCESS,
                   "put");
      if (!fences) MPI_Win_flush(next, win);
      if (!fences && i % 3 == 0) {
        expect_equal(
            MPI_Accumulate(own.data(), count, MPI_INT, next, at, 1, each.type, MPI_SUM, win),
            MPI_SUCCESS, "accumulate");
        MPI_Win_flush_local(next, win);  // own is MPI's until then
        for (int& value : own) value *= 2;
      }
    }
    if (fences) MPI_Win_fence(0, win);
    if (!fences) MPI_Win_flush(next, win);
    if (!fences) MPI_Barrier(MPI_COMM_WORLD);
    const int before = (rank + size - 1) % size;
    for (int i = 0; i < types_in_use; ++i) {
      const int* memory = window.memory<int>() + i * space;
      const int factor = !fences && i % 3 == 0 ? 2 : 1;
      const int expected = factor * (1000 * before + 10 * round + i);
      for (const int place : types[static_cast<std::size_t>(i)].places) {
        if (memory[place] != expected) return expect_equal(memory[place], expected, "data");
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // Another type, perhaps where the old one was.
    Uneven& changed = types[static_cast<std::size_t>(round)];
    MPI_Type_free(&changed.type);
    changed = make_uneven(round + types_in_use * (1 + round % 2));
  }
  if (!fences) MPI_Win_unlock_all(win);
  if (fences) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (Uneven& each : types) MPI_Type_free(&each.type);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const Kind kind : test::all_kinds) {
    for (const bool fences : {false, true}) use(kind, fences);
  }
  return test::finish();
}
