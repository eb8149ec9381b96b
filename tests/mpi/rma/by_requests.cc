// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// FULMAR_RMA_DIRECT=requests: the memory of every other rank, also of the same node, is reached by requests, and what is
// read and written is the same as ever.
// ranks: 2 3

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rma/window.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Kind;
using test::Window;

int rank = 0;
int size = 1;
constexpr std::size_t words = 200'000;  // some of it moves as long data

std::string ways_of(MPI_Win win) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Win_get_info(win, &info);
  std::vector<char> value(200);
  int length = static_cast<int>(value.size());
  int found = 0;
  MPI_Info_get_string(info, "fulmar_ways", &length, value.data(), &found);
  MPI_Info_free(&info);
  return found != 0 ? value.data() : "";
}

void check_fence(const Window& window) {
  std::vector<std::int32_t> sent(words);
  std::vector<std::int32_t> got(words);
  const int next = (rank + 1) % size;
  for (std::size_t i = 0; i < words; ++i) sent[i] = static_cast<std::int32_t>(i) + 100 * rank;
  const auto count = static_cast<int>(words);
  MPI_Win_fence(0, window.get());
  MPI_Put(sent.data(), count, MPI_INT32_T, next, window.at(next, 0), count, MPI_INT32_T,
          window.get());
  MPI_Win_fence(0, window.get());
  MPI_Get(got.data(), count, MPI_INT32_T, next, window.at(next, 0), count, MPI_INT32_T,
          window.get());
  MPI_Win_fence(0, window.get());
  expect(got == sent, "what was put is got");
  const int before = (rank + size - 1) % size;
  expect_equal(window.memory<std::int32_t>()[words - 1], static_cast<int>(words) - 1 + 100 * before,
               "the last word");
}

/// More puts than messages may hold copies of, of lengths around what fits a message; the first one of each rank
/// is told of the target's longer buffer by the flush behind it.
void check_many_puts(const Window& window) {
  constexpr std::size_t around = 32 * 1024 / sizeof(std::int32_t);
  const int next = (rank + 1) % size;
  std::vector<std::int32_t> sent(words);
  MPI_Barrier(MPI_COMM_WORLD);
  for (const int turn : {1, 2, 3}) {
    for (std::size_t i = 0; i < words; ++i) sent[i] = static_cast<std::int32_t>(i) * turn + rank;
    MPI_Win_lock_all(0, window.get());
    std::size_t at = 0;
    for (std::size_t put = 0; at < words; ++put) {
      const std::size_t length = std::min(put % 4 == 0 ? put + 1 : around - 10 + put, words - at);
      const auto count = static_cast<int>(length);
      MPI_Put(&sent[at], count, MPI_INT32_T, next,
              window.at(next, static_cast<MPI_Aint>(at * sizeof(std::int32_t))), count, MPI_INT32_T,
              window.get());
      at += length;
    }
    MPI_Win_unlock_all(window.get());
    MPI_Barrier(MPI_COMM_WORLD);
    const int before = (rank + size - 1) % size;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.get());
    const std::int32_t* const own = window.memory<std::int32_t>();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < words; ++i) {
      wrong += own[i] != static_cast<std::int32_t>(i) * turn + before ? 1U : 0U;
    }
    MPI_Win_unlock(rank, window.get());
    expect_equal(wrong, std::size_t{0}, "wrong words");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void check_locks(const Window& window) {
  constexpr int turns = 50;
  window.memory<std::int64_t>()[0] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const std::int64_t one = 1;
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.get());
    std::int64_t value = 0;
    MPI_Fetch_and_op(&one, &value, MPI_INT64_T, 0, window.at(0, 0), MPI_SUM, window.get());
    MPI_Win_unlock(0, window.get());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  std::int64_t sum = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.get());
  MPI_Get(&sum, 1, MPI_INT64_T, 0, window.at(0, 0), 1, MPI_INT64_T, window.get());
  MPI_Win_unlock(0, window.get());
  expect_equal(sum, std::int64_t{turns} * size, "every addition");
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("FULMAR_RMA_DIRECT", "requests", 1);
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  for (const Kind kind : test::all_kinds) {
    const Window window(kind, words * sizeof(std::int32_t));
    expect(ways_of(window.get()) == "requests " + std::to_string(size - 1), test::name_of(kind));
    check_fence(window);
    check_many_puts(window);
    check_locks(window);
  }
  return test::finish();
}
