// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// hash_table: a table that lies in the memory of all ranks, and that all of them change at the same
// time.
//
//     mpicc -O2 hash_table.c -o hash_table
//     mpiexec -n 4 ./hash_table [numbers]
//
// Every rank draws numbers and counts in the table how often each of them was drawn, by all ranks
// together. A number has a home: a rank, and a place in the part of the table that this rank keeps.
// If another number stands there it goes to the next place, and so on.
//
//     MPI_Compare_and_swap(key: 0 -> number)   takes a place that is empty. The old value says whether
//                                              it was: 0, or the number itself, is success; anything
//                                              else is another number, so look at the next place
//     MPI_Fetch_and_op(count + 1)              counts
//
// Both are atomic, so no rank needs a lock of its own, and the ranks that keep the table do nothing
// for it. At the end each rank looks up some numbers and compares with what one finds who draws all of
// them again, and the sum of all counts must be the number of draws.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// A place of the table; key 0 is an empty one. In the window these are two numbers in a row.
enum { key_at, count_at, numbers_a_place };

typedef struct {
  MPI_Win win;
  int ranks;
  int64_t places;  // of each rank
} Table;

static uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdU;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53U;
  return value ^ value >> 33;
}

// Number `i` that `rank` draws: one of `different`, from 1 on.
static int64_t draw(int rank, int64_t i, int64_t different) {
  return (int64_t)(mixed(((uint64_t)rank << 32) + (uint64_t)i) % (uint64_t)different) + 1;
}

static int home_rank(const Table* table, int64_t key) {
  return (int)(mixed((uint64_t)key) % (uint64_t)table->ranks);
}

// The place of a key, which is taken if the table does not have it; -1 if there is no room.
static int64_t find_place(const Table* table, int64_t key) {
  const int rank = home_rank(table, key);
  const int64_t empty = 0;
  const int64_t first = (int64_t)(mixed((uint64_t)key) >> 20) % table->places;
  for (int64_t step = 0; step < table->places; ++step) {
    const int64_t place = (first + step) % table->places;
    int64_t old = 0;
    MPI_Compare_and_swap(&key, &empty, &old, MPI_INT64_T, rank, place * numbers_a_place + key_at,
                         table->win);
    MPI_Win_flush(rank, table->win);
    if (old == empty || old == key) return place;
  }
  return -1;
}

// Adds to the count of a key; returns what it was before.
static int64_t add(const Table* table, int64_t key, int64_t by) {
  const int rank = home_rank(table, key);
  const int64_t place = find_place(table, key);
  if (place < 0) {
    fprintf(stderr, "the table is full\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  int64_t before = 0;
  MPI_Fetch_and_op(&by, &before, MPI_INT64_T, rank, place * numbers_a_place + count_at, MPI_SUM,
                   table->win);
  MPI_Win_flush(rank, table->win);
  return before;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  Table table = {MPI_WIN_NULL, 0, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &table.ranks);
  const int64_t numbers = argc > 1 ? atol(argv[1]) : 20000;  // of each rank
  const int64_t different = numbers / 4 + 1;
  table.places = 2 * different / table.ranks + 64;

  int64_t* memory = NULL;
  const MPI_Aint bytes = table.places * numbers_a_place * (MPI_Aint)sizeof(int64_t);
  MPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &table.win);
  for (int64_t i = 0; i < table.places * numbers_a_place; ++i) memory[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_lock_all(MPI_MODE_NOCHECK, table.win);
  const double start = MPI_Wtime();
  for (int64_t i = 0; i < numbers; ++i) (void)add(&table, draw(rank, i, different), 1);
  const double seconds = MPI_Wtime() - start;
  MPI_Win_flush_all(table.win);
  MPI_Barrier(MPI_COMM_WORLD);  // all have counted

  long wrong = 0;
  for (int64_t key = 1 + rank; key <= different; key += different / 10 + 1) {
    int64_t expected = 0;
    for (int r = 0; r < table.ranks; ++r) {
      for (int64_t i = 0; i < numbers; ++i) expected += draw(r, i, different) == key;
    }
    wrong += add(&table, key, 0) != expected;
  }
  MPI_Win_unlock_all(table.win);
  MPI_Barrier(MPI_COMM_WORLD);

  long mine[2] = {0, wrong};
  for (int64_t i = 0; i < table.places; ++i)
    mine[0] += (long)memory[i * numbers_a_place + count_at];
  long all[2] = {0, 0};
  MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  const int bad = all[0] != (long)numbers * table.ranks || all[1] != 0;
  if (rank == 0) {
    printf("%ld numbers counted on %d ranks, %.2f us each%s\n", all[0], table.ranks,
           numbers > 0 ? seconds / (double)numbers * 1e6 : 0.0, bad ? ": WRONG" : "");
  }
  MPI_Win_free(&table.win);
  MPI_Finalize();
  return bad;
}
