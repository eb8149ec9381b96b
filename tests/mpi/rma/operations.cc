// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// All operations on windows of every kind, with short and long data and derived datatypes on both sides.
// ranks: 1 2 4
// timeout: 120

#include <mpi.h>

#include <cstdint>
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

constexpr std::size_t window_bytes = std::size_t{3} << 20;

/// Elements: what fits a request, what does not, and what is announced first.
constexpr int lengths[] = {1, 100, 1000, 40'000, 200'000};

std::vector<int> pattern(int from, int seed, int length) {
  std::vector<int> values(static_cast<std::size_t>(length));
  for (int i = 0; i < length; ++i) {
    values[static_cast<std::size_t>(i)] = static_cast<int>(test::mark(from, seed, i) & 0xffff);
  }
  return values;
}

/// Every rank puts to the next one, which has it after the fence; and gets it back.
void check_put_get(const Window& window) {
  const int to = (rank + 1) % size;
  const int from = (rank + size - 1) % size;
  for (const int length : lengths) {
    const std::vector<int> sent = pattern(rank, length, length);
    MPI_Win_fence(0, window.get());
    MPI_Put(sent.data(), length, MPI_INT, to, window.at(to, 64), length, MPI_INT, window.get());
    MPI_Win_fence(0, window.get());
    const std::vector<int> expected = pattern(from, length, length);
    const int* here = window.memory<int>() + 16;
    expect(std::memcmp(here, expected.data(), sizeof(int) * expected.size()) == 0, "put");
    std::vector<int> back(sent.size(), -1);
    MPI_Win_fence(0, window.get());
    MPI_Get(back.data(), length, MPI_INT, to, window.at(to, 64), length, MPI_INT, window.get());
    MPI_Win_fence(0, window.get());
    expect(back == sent, "get");
  }
}

/// A column of a matrix to a row of another one, an irregular list, and a list whose description is
/// longer than a request.
void check_types(const Window& window) {
  const int to = (rank + 1) % size;
  const int from = (rank + size - 1) % size;
  for (const int length : {5, 300, 3000}) {
    MPI_Datatype column = MPI_DATATYPE_NULL;
    MPI_Type_vector(length, 1, 3, MPI_INT, &column);
    std::vector<int> places(static_cast<std::size_t>(length));
    for (int i = 0; i < length; ++i)
      places[static_cast<std::size_t>(i)] = 2 * i + (i * i) % 2 + i / 7;
    MPI_Datatype list = MPI_DATATYPE_NULL;
    MPI_Type_create_indexed_block(length, 1, places.data(), MPI_INT, &list);
    MPI_Type_commit(&column);
    MPI_Type_commit(&list);
    std::vector<int> matrix = pattern(rank, length, 3 * length);
    MPI_Win_fence(0, window.get());
    std::memset(window.memory<void>(), 0, 100'000);
    MPI_Win_fence(0, window.get());
    MPI_Put(matrix.data(), 1, column, to, window.at(to, 8), 1, list, window.get());
    MPI_Win_fence(0, window.get());
    const std::vector<int> theirs = pattern(from, length, 3 * length);
    const int* here = window.memory<int>() + 2;
    for (int i = 0; i < length; ++i) {
      const auto index = static_cast<std::size_t>(i);
      expect_equal(here[places[index]], theirs[3 * index], "an element of the list");
    }
    int sum = 0;
    for (int i = -2; i < 3 * length; ++i) sum += here[i] != 0 ? 1 : 0;
    expect(sum <= length, "nothing between the elements is touched");
    std::vector<int> back(matrix.size(), -7);
    MPI_Win_fence(0, window.get());
    MPI_Get(back.data(), 1, column, to, window.at(to, 8), 1, list, window.get());
    MPI_Win_fence(0, window.get());
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      expect_equal(back[i], i % 3 == 0 && i / 3 < places.size() ? matrix[i] : -7, "got column");
    }
    // Sums into the list, from packed integers.
    const std::vector<int> ones(static_cast<std::size_t>(length), 1);
    MPI_Win_fence(0, window.get());
    MPI_Accumulate(ones.data(), length, MPI_INT, to, window.at(to, 8), 1, list, MPI_SUM,
                   window.get());
    MPI_Win_fence(0, window.get());
    for (int i = 0; i < length; ++i) {
      const auto index = static_cast<std::size_t>(i);
      expect_equal(here[places[index]], theirs[3 * index] + 1, "a sum in the list");
    }
    MPI_Type_free(&column);
    MPI_Type_free(&list);
  }
}

/// All ranks accumulate on rank 0.
void check_accumulate(const Window& window) {
  for (const int length : lengths) {
    MPI_Win_fence(0, window.get());
    std::memset(window.memory<void>(), 0, sizeof(int) * static_cast<std::size_t>(length));
    MPI_Win_fence(0, window.get());
    const std::vector<int> own = pattern(rank, length, length);
    MPI_Accumulate(own.data(), length, MPI_INT, 0, window.at(0, 0), length, MPI_INT, MPI_SUM,
                   window.get());
    MPI_Win_fence(0, window.get());
    if (rank == 0) {
      std::vector<int> expected(static_cast<std::size_t>(length));
      for (int from = 0; from < size; ++from) {
        const std::vector<int> theirs = pattern(from, length, length);
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += theirs[i];
      }
      const bool same =
          std::memcmp(window.memory<void>(), expected.data(), sizeof(int) * expected.size()) == 0;
      expect(same, "sums of all ranks");
    }
    MPI_Win_fence(0, window.get());
  }
}

struct Located {
  double value;
  int index;
};

/// Pairs have gaps.
void check_pairs(const Window& window) {
  MPI_Win_fence(0, window.get());
  auto* here = window.memory<Located>();
  here[0] = {-1, -1};
  here[1] = {100, 7};
  MPI_Win_fence(0, window.get());
  Located own[2] = {};
  own[0].value = own[1].value = 10.0 + rank;
  own[0].index = own[1].index = rank;
  MPI_Accumulate(own, 2, MPI_DOUBLE_INT, 0, window.at(0, 0), 2, MPI_DOUBLE_INT, MPI_MAXLOC,
                 window.get());
  MPI_Win_fence(0, window.get());
  if (rank == 0) {
    expect(here[0].value == 9.0 + size && here[0].index == size - 1, "maxloc");
    expect(here[1].value == 100 && here[1].index == 7, "maxloc of a smaller value");
  }
  MPI_Win_fence(0, window.get());
}

/// Each rank gets another number, and they are 0 to n - 1.
void check_fetch(const Window& window) {
  constexpr int turns = 50;
  MPI_Win_fence(0, window.get());
  *window.memory<std::int64_t>() = 0;
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  MPI_Win_lock_all(0, window.get());
  std::vector<std::int64_t> got;
  for (int turn = 0; turn < turns; ++turn) {
    const std::int64_t one = 1;
    std::int64_t number = -1;
    MPI_Fetch_and_op(&one, &number, MPI_INT64_T, 0, window.at(0, 0), MPI_SUM, window.get());
    MPI_Win_flush(0, window.get());
    got.push_back(number);
  }
  std::int64_t last = -1;
  MPI_Fetch_and_op(nullptr, &last, MPI_INT64_T, 0, window.at(0, 0), MPI_NO_OP, window.get());
  MPI_Win_flush_local(0, window.get());
  expect(last > got.back(), "a value that is only read");
  MPI_Win_unlock_all(window.get());
  std::vector<std::int64_t> all(got.size() * static_cast<std::size_t>(size));
  MPI_Allgather(got.data(), turns, MPI_INT64_T, all.data(), turns, MPI_INT64_T, MPI_COMM_WORLD);
  std::vector<int> seen(all.size());
  for (const std::int64_t number : all) {
    const bool good = number >= 0 && number < static_cast<std::int64_t>(seen.size());
    expect(good, "a number in range");
    if (good) ++seen[static_cast<std::size_t>(number)];
  }
  for (const int times : seen) expect_equal(times, 1, "every number once");
}

/// A counter that is changed by compare and swap alone.
void check_swap(const Window& window) {
  constexpr int turns = 20;
  MPI_Win_fence(0, window.get());
  *window.memory<int>() = 0;
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  MPI_Win_lock_all(0, window.get());
  for (int turn = 0; turn < turns; ++turn) {
    int seen = 0;
    for (;;) {
      const int next = seen + 1;
      int found = -1;
      MPI_Compare_and_swap(&next, &seen, &found, MPI_INT, 0, window.at(0, 0), window.get());
      MPI_Win_flush(0, window.get());
      if (found == seen) break;
      seen = found;
    }
  }
  MPI_Win_unlock_all(window.get());
  MPI_Win_fence(0, window.get());
  if (rank == 0) expect_equal(*window.memory<int>(), turns * size, "all increments");
  MPI_Win_fence(0, window.get());
}

/// MPI_2INT below a constructor is a pair and not two numbers: all ranks look for the greatest on
/// rank 0.
void check_pairs_of_equals(const Window& window) {
  constexpr int pairs = 3;
  const int places[pairs] = {0, 2, 5};
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(pairs, 1, places, MPI_2INT, &spread);
  MPI_Type_commit(&spread);
  MPI_Win_fence(0, window.get());
  if (rank == 0) std::memset(window.memory<void>(), 0, 6 * 2 * sizeof(int));
  MPI_Win_fence(0, window.get());
  const int values[2 * pairs] = {rank + 1, rank, size - rank, rank, 7, rank};
  MPI_Accumulate(values, pairs, MPI_2INT, 0, window.at(0, 0), 1, spread, MPI_MAXLOC, window.get());
  MPI_Win_fence(0, window.get());
  if (rank == 0) {
    const int* found = window.memory<int>();
    const int wanted[2 * 6] = {size, size - 1, 0, 0, size, 0, 0, 0, 0, 0, 7, 0};
    for (int i = 0; i < 2 * 6; ++i)
      expect_equal(found[i], wanted[i], "pairs in a derived datatype");
  }
  MPI_Win_fence(0, window.get());
  MPI_Type_free(&spread);
}

/// Fetches what was there, and leaves the new; short and long.
void check_get_accumulate(const Window& window) {
  const int to = (rank + 1) % size;
  for (const int length : lengths) {
    const std::vector<int> first = pattern(rank, length, length);
    const std::vector<int> second = pattern(rank, length + 1, length);
    std::vector<int> old(first.size(), -1);
    std::vector<int> now(first.size(), -1);
    MPI_Win_fence(0, window.get());
    std::memset(window.memory<void>(), 0, sizeof(int) * first.size());
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window.get());
    MPI_Accumulate(first.data(), length, MPI_INT, to, window.at(to, 0), length, MPI_INT,
                   MPI_REPLACE, window.get());
    MPI_Get_accumulate(second.data(), length, MPI_INT, old.data(), length, MPI_INT, to,
                       window.at(to, 0), length, MPI_INT, MPI_SUM, window.get());
    MPI_Get_accumulate(nullptr, 0, MPI_DATATYPE_NULL, now.data(), length, MPI_INT, to,
                       window.at(to, 0), length, MPI_INT, MPI_NO_OP, window.get());
    MPI_Win_unlock(to, window.get());
    expect(old == first, "what was there");
    for (std::size_t i = 0; i < now.size(); ++i) {
      expect_equal(now[i], first[i] + second[i], "accumulates of one origin are ordered");
    }
    MPI_Win_fence(0, window.get());
  }
}

void check_requests(const Window& window) {
  const int to = (rank + 1) % size;
  for (const int length : lengths) {
    const std::vector<int> values = pattern(rank, length, length);
    std::vector<int> back(values.size(), -1);
    std::vector<int> old(values.size(), -1);
    MPI_Win_lock_all(0, window.get());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Rput(values.data(), length, MPI_INT, to, window.at(to, 0), length, MPI_INT, window.get(),
             &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(to, window.get());
    MPI_Rget(back.data(), length, MPI_INT, to, window.at(to, 0), length, MPI_INT, window.get(),
             &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(back == values, "rget");
    MPI_Raccumulate(values.data(), length, MPI_INT, to, window.at(to, 0), length, MPI_INT, MPI_SUM,
                    window.get(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget_accumulate(values.data(), length, MPI_INT, old.data(), length, MPI_INT, to,
                        window.at(to, 0), length, MPI_INT, MPI_REPLACE, window.get(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < old.size(); ++i) {
      expect_equal(old[i], 2 * values[i], "rget_accumulate");
    }
    MPI_Win_unlock_all(window.get());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void check_nobody(const Window& window) {
  int value = 5;
  MPI_Win_fence(0, window.get());
  MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 1 << 30, 1, MPI_INT, window.get());
  MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.get());
  MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, window.get());
  // No elements: whether the operation is defined for bytes does not matter.
  expect_equal(MPI_Get_accumulate(&value, 0, MPI_BYTE, &value, 0, MPI_BYTE, 0, window.at(0, 0), 0,
                                  MPI_BYTE, MPI_SUM, window.get()),
               MPI_SUCCESS, "no elements");
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, window.get());
  MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.get(), &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock(MPI_PROC_NULL, window.get());
  expect_equal(value, 5, "nothing comes from nobody");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  for (const Kind kind : test::all_kinds) {
    const Window window(kind, window_bytes);
    check_put_get(window);
    check_types(window);
    check_accumulate(window);
    check_pairs(window);
    check_pairs_of_equals(window);
    check_fetch(window);
    check_swap(window);
    check_get_accumulate(window);
    check_requests(window);
    check_nobody(window);
  }
  return test::finish();
}
