// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What adapters do on windows where there are any: neighbouring short puts, long ones both ways, pieces of
// memory on both sides, and accumulates whose agent is the adapter. Elsewhere the same by other ways.
// ranks: 2 4
// timeout: 120

#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "rma/window.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Kind;
using test::Window;

int rank = 0;
int size = 1;

constexpr std::size_t window_bytes = std::size_t{5} << 20;

std::int64_t value_of(int from, int round, int index) {
  return test::mark(from, round, index) & 0xffffff;
}

/// Each rank fills a run of the next one's memory word by word.
void check_neighbours(const Window& window) {
  constexpr int words = 3000;
  const int to = (rank + 1) % size;
  const int from = (rank + size - 1) % size;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::int64_t> sent(words);
    MPI_Win_lock_all(0, window.get());
    for (int i = 0; i < words; ++i) {
      sent[static_cast<std::size_t>(i)] = value_of(rank, round, i);
      MPI_Put(&sent[static_cast<std::size_t>(i)], 1, MPI_INT64_T, to,
              window.at(to, 8 * static_cast<std::size_t>(i)), 1, MPI_INT64_T, window.get());
      if (i % 700 == 0) MPI_Win_flush(to, window.get());
    }
    MPI_Win_flush_all(window.get());
    std::vector<std::int64_t> back(words);
    for (int i = 0; i < words; ++i) {
      MPI_Get(&back[static_cast<std::size_t>(i)], 1, MPI_INT64_T, to,
              window.at(to, 8 * static_cast<std::size_t>(i)), 1, MPI_INT64_T, window.get());
    }
    MPI_Win_unlock_all(window.get());
    expect(back == sent, "what was put comes back");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.get());
    bool good = true;
    for (int i = 0; i < words; ++i) {
      good = good && window.memory<std::int64_t>()[i] == value_of(from, round, i);
    }
    MPI_Win_unlock(rank, window.get());
    expect(good, "words of the neighbour");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Long puts and gets of one epoch, to different parts, in both directions at once.
void check_both_ways(const Window& window) {
  constexpr int words = 200'000;
  constexpr std::size_t half = window_bytes / 2;
  const int to = (rank + 1) % size;
  const int from = (rank + size - 1) % size;
  std::vector<std::int64_t> sent(words);
  for (int i = 0; i < words; ++i) sent[static_cast<std::size_t>(i)] = value_of(rank, 50, i);
  MPI_Win_fence(0, window.get());
  std::int64_t* const own = window.memory<std::int64_t>() + half / sizeof(std::int64_t);
  for (int i = 0; i < words; ++i) own[i] = value_of(rank, 51, i);
  MPI_Win_fence(0, window.get());
  std::vector<std::int64_t> got(words, -1);
  constexpr int part = words / 8;
  for (int i = 0; i < 8; ++i) {
    const std::size_t at = sizeof(std::int64_t) * part * static_cast<std::size_t>(i);
    MPI_Put(sent.data() + part * i, part, MPI_INT64_T, to, window.at(to, at), part, MPI_INT64_T,
            window.get());
    MPI_Get(got.data() + part * i, part, MPI_INT64_T, to, window.at(to, half + at), part,
            MPI_INT64_T, window.get());
  }
  MPI_Win_fence(0, window.get());
  bool good = true;
  for (int i = 0; i < words; ++i) {
    good = good && got[static_cast<std::size_t>(i)] == value_of(to, 51, i) &&
           window.memory<std::int64_t>()[i] == value_of(from, 50, i);
  }
  expect(good, "both ways at once");
  MPI_Win_fence(0, window.get());
}

/// Rows of a matrix on both sides, long ones and short ones; the rest stays as it is.
void check_rows(const Window& window) {
  const int to = (rank + 1) % size;
  const int from = (rank + size - 1) % size;
  for (const int row : {3, 200, 6000}) {
    constexpr int rows = 20;
    MPI_Datatype here = MPI_DATATYPE_NULL;
    MPI_Datatype there = MPI_DATATYPE_NULL;
    MPI_Type_vector(rows, row, row + 5, MPI_INT, &here);
    MPI_Type_vector(rows, row, row + 9, MPI_INT, &there);
    MPI_Type_commit(&here);
    MPI_Type_commit(&there);
    std::vector<int> sent(static_cast<std::size_t>(rows * (row + 5)));
    for (std::size_t i = 0; i < sent.size(); ++i) {
      sent[i] = static_cast<int>(value_of(rank, row, static_cast<int>(i)));
    }
    MPI_Win_fence(0, window.get());
    std::memset(window.memory<void>(), 0x11, static_cast<std::size_t>(4 * rows * (row + 9)));
    MPI_Win_fence(0, window.get());
    MPI_Put(sent.data(), 1, here, to, window.at(to, 0), 1, there, window.get());
    MPI_Win_fence(0, window.get());
    const int* const memory = window.memory<int>();
    bool good = true;
    for (int i = 0; i < (rows - 1) * (row + 9) + row; ++i) {
      const int column = i % (row + 9);
      const int index = i / (row + 9) * (row + 5) + column;
      const int expected = column < row ? static_cast<int>(value_of(from, row, index)) : 0x11111111;
      good = good && memory[i] == expected;
    }
    expect(good, "rows");
    MPI_Win_fence(0, window.get());
    std::vector<int> back(sent.size(), -1);
    MPI_Get(back.data(), 1, here, to, window.at(to, 0), 1, there, window.get());
    MPI_Win_fence(0, window.get());
    good = true;
    for (std::size_t i = 0; i < back.size(); ++i) {
      const bool data = static_cast<int>(i) % (row + 5) < row;
      good = good && back[i] == (data ? sent[i] : -1);
    }
    expect(good, "rows that come back");
    MPI_Type_free(&here);
    MPI_Type_free(&there);
  }
}

/// Every rank, that of the memory too, changes the same elements at once.
void check_elements(const Window& window) {
  constexpr int turns = 30;
  constexpr int length = 40;
  MPI_Win_fence(0, window.get());
  std::memset(window.memory<void>(), 0, 4096);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  MPI_Win_lock_all(0, window.get());
  std::vector<std::int64_t> tickets(turns);
  std::vector<std::int64_t> ones(length);
  std::iota(ones.begin(), ones.end(), 1);
  for (int turn = 0; turn < turns; ++turn) {
    const std::int64_t one = 1;
    MPI_Fetch_and_op(&one, &tickets[static_cast<std::size_t>(turn)], MPI_INT64_T, 0,
                     window.at(0, 0), MPI_SUM, window.get());
    for (int target = 0; target < size; ++target) {
      MPI_Accumulate(ones.data(), length, MPI_INT64_T, target, window.at(target, 64), length,
                     MPI_INT64_T, MPI_SUM, window.get());
      const double mine = turn * size + rank;
      MPI_Accumulate(&mine, 1, MPI_DOUBLE, target, window.at(target, 1024), 1, MPI_DOUBLE, MPI_MAX,
                     window.get());
      const double product = 1.0;
      MPI_Accumulate(&product, 1, MPI_DOUBLE, target, window.at(target, 1032), 1, MPI_DOUBLE,
                     MPI_SUM, window.get());
    }
  }
  MPI_Win_unlock_all(window.get());
  std::vector<std::int64_t> all(static_cast<std::size_t>(turns * size));
  MPI_Allgather(tickets.data(), turns, MPI_INT64_T, all.data(), turns, MPI_INT64_T, MPI_COMM_WORLD);
  std::vector<int> seen(all.size());
  for (const std::int64_t ticket : all) {
    const bool good = ticket >= 0 && ticket < turns * size;
    expect(good, "a ticket in range");
    if (good) ++seen[static_cast<std::size_t>(ticket)];
  }
  for (const int times : seen) expect_equal(times, 1, "every ticket once");
  MPI_Win_fence(0, window.get());
  const std::int64_t* const sums = window.memory<std::int64_t>() + 8;
  for (int i = 0; i < length; ++i) expect_equal(sums[i], (i + 1) * turns * size, "sum");
  expect(window.memory<double>()[128] == turns * size - 1, "largest");
  expect(window.memory<double>()[129] == turns * size, "sum of doubles");
  MPI_Win_fence(0, window.get());
}

/// Operations of one origin on one element happen in the order of the calls; MPI_REPLACE and MPI_NO_OP;
/// the result of compare and swap; elements behind the origin's data.
void check_order(const Window& window) {
  const int to = (rank + 1) % size;
  MPI_Win_fence(0, window.get());
  std::memset(window.memory<void>(), 0, 4096);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window.get());
  for (std::int64_t turn = 1; turn < 20; ++turn) {
    const std::int64_t next = 10 * turn;
    const std::int64_t compare = next + 1;
    const std::int64_t last = next + 2;
    std::int64_t was[4] = {-1, -1, -1, -1};
    const std::int64_t one = 1;
    const MPI_Aint at = window.at(to, 8);
    MPI_Accumulate(&next, 1, MPI_INT64_T, to, at, 1, MPI_INT64_T, MPI_REPLACE, window.get());
    MPI_Fetch_and_op(&one, &was[0], MPI_INT64_T, to, at, MPI_SUM, window.get());
    MPI_Compare_and_swap(&last, &compare, &was[1], MPI_INT64_T, to, at, window.get());
    MPI_Fetch_and_op(nullptr, &was[2], MPI_INT64_T, to, at, MPI_NO_OP, window.get());
    MPI_Win_flush(to, window.get());
    MPI_Compare_and_swap(&one, &compare, &was[3], MPI_INT64_T, to, at, window.get());
    MPI_Win_flush(to, window.get());
    expect_equal(was[0], next, "behind MPI_REPLACE");
    expect_equal(was[1], next + 1, "behind MPI_SUM");
    expect_equal(was[2], last, "behind compare and swap");
    expect_equal(was[3], last, "compare and swap of another value");
  }
  std::vector<std::int64_t> results(6, -1);
  const std::int64_t both[2] = {5, 7};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Rget_accumulate(both, 2, MPI_INT64_T, results.data(), 6, MPI_INT64_T, to, window.at(to, 0), 2,
                      MPI_INT64_T, MPI_SUM, window.get(), &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(results[0], 0, "first of two");
  expect_equal(results[1], 192, "second of two");
  expect_equal(results[2], -1, "nothing behind them");
  MPI_Win_unlock(to, window.get());
  MPI_Win_fence(0, window.get());
  expect_equal(window.memory<std::int64_t>()[0], 5, "sum of the first");
  expect_equal(window.memory<std::int64_t>()[1], 199, "sum of the second");
  MPI_Win_fence(0, window.get());
}

/// Elements that adapters do not change: they have an agent of their own.
void check_other_elements(const Window& window) {
  constexpr int turns = 20;
  MPI_Win_fence(0, window.get());
  std::memset(window.memory<void>(), 0, 4096);
  MPI_Win_fence(0, window.get());
  for (int turn = 0; turn < turns; ++turn) {
    for (int target = 0; target < size; ++target) {
      const int one = 1;
      const std::int16_t two = 2;
      MPI_Accumulate(&one, 1, MPI_INT, target, window.at(target, 4), 1, MPI_INT, MPI_SUM,
                     window.get());
      MPI_Accumulate(&two, 1, MPI_INT16_T, target, window.at(target, 10), 1, MPI_INT16_T, MPI_SUM,
                     window.get());
    }
  }
  MPI_Win_fence(0, window.get());
  expect_equal(window.memory<int>()[1], turns * size, "ints");
  expect_equal(window.memory<std::int16_t>()[5], 2 * turns * size, "shorts");
  MPI_Win_fence(0, window.get());
}

}  // namespace

int main(int argc, char** argv) {
  // Also where software of the target does what adapters do.
  ::setenv("FULMAR_RMA_DIRECT", "always", 1);
  ::setenv("FULMAR_RMA_ATOMICS", "adapter", 1);
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  for (const Kind kind : {Kind::create, Kind::allocate}) {
    const Window window(kind, window_bytes);
    check_neighbours(window);
    check_both_ways(window);
    check_rows(window);
    check_elements(window);
    check_order(window);
    check_other_elements(window);
  }
  return test::finish();
}
