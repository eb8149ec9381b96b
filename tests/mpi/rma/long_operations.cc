// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Long operations on memory that is not mapped: origin and target share them where the target waits in
// MPI, and the origin does all where it does not. The lengths are around those at which ways change.
// ranks: 2 3
// env: FULMAR_FABRIC=shm

#include <mpi.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/window.h"
#include "support/performance_variable.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Kind;
using test::PerformanceVariable;
using test::Window;

using Words = std::vector<std::int64_t>;

constexpr std::size_t longest = (std::size_t{5} << 17) + 3;  ///< words: 5 MiB and 24 bytes
constexpr std::array<std::size_t, 8> lengths = {4095, 4096,   4097,           8191,
                                                8193, 131072, 2 * 131072 + 1, longest};
constexpr std::array kinds = {Kind::create, Kind::dynamic};

int rank = 0;
int size = 1;

std::int64_t value_at(std::size_t place, int origin) {
  return static_cast<std::int64_t>(place) * 7 + origin;
}

Words pattern(std::size_t words, int origin) {
  Words values(words);
  for (std::size_t i = 0; i < words; ++i) values[i] = value_at(i, origin);
  return values;
}

/// How many of the words are not as `pattern` of this rank has them.
std::size_t wrong(const std::int64_t* words, std::size_t count, int origin) {
  std::size_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) bad += words[i] != value_at(i, origin) ? 1 : 0;
  return bad;
}

/// All ranks put to the next one, which waits in the fence or puts, and get it back.
void put_and_get(const Window& window, std::size_t words) {
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  const auto count = static_cast<int>(words);
  auto* const here = window.memory<std::int64_t>();
  here[0] = -1;
  here[words + 1] = -1;
  const Words values = pattern(words, rank);
  Words back(words + 1, -2);
  MPI_Win_fence(0, window.get());
  MPI_Put(values.data(), count, MPI_INT64_T, next, window.at(next, 8), count, MPI_INT64_T,
          window.get());
  MPI_Win_fence(0, window.get());
  expect_equal(wrong(here + 1, words, before), 0, "words put");
  expect(here[0] == -1 && here[words + 1] == -1, "what stands beside them");
  MPI_Get(back.data(), count, MPI_INT64_T, next, window.at(next, 8), count, MPI_INT64_T,
          window.get());
  MPI_Win_fence(0, window.get());
  expect_equal(wrong(back.data(), words, rank), 0, "words got");
  expect_equal(back[words], -2, "what stands behind them");
}

/// All ranks add to rank 0, itself too, at the same time.
void accumulate(const Window& window, std::size_t words) {
  constexpr int rounds = 2;
  const auto count = static_cast<int>(words);
  auto* const here = window.memory<std::int64_t>();
  const Words values = pattern(words, rank);
  for (std::size_t i = 0; i <= words; ++i) here[i] = 0;
  MPI_Win_fence(0, window.get());
  for (int round = 0; round < rounds; ++round) {
    MPI_Accumulate(values.data(), count, MPI_INT64_T, 0, window.at(0, 0), count, MPI_INT64_T,
                   MPI_SUM, window.get());
  }
  MPI_Win_fence(0, window.get());
  if (rank != 0) return;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < words; ++i) {
    std::int64_t sum = 0;
    for (int origin = 0; origin < size; ++origin) sum += rounds * value_at(i, origin);
    bad += here[i] != sum ? 1 : 0;
  }
  expect_equal(bad, 0, "sums");
  expect_equal(here[words], 0, "what stands behind them");
}

/// Rank 0 waits without MPI for what the others put and add.
void target_computes(const Window& window) {
  constexpr std::size_t words = 131072 + 5;
  const auto count = static_cast<int>(words);
  auto* const here = window.memory<std::atomic<std::int64_t>>();
  if (rank == 0) {
    for (std::size_t i = 0; i < words; ++i) here[i].store(0, std::memory_order_relaxed);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const std::int64_t goal = std::int64_t{size} - 1;
    const auto has_come = [&](std::size_t i) {
      return here[i].load(std::memory_order_acquire) == goal;
    };
    while (!has_come(0) || !has_come(words / 2) || !has_come(words - 1)) ::sched_yield();
  } else {
    const Words ones(words, 1);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.get());
    MPI_Accumulate(ones.data(), count, MPI_INT64_T, 0, window.at(0, 0), count, MPI_INT64_T, MPI_SUM,
                   window.get());
    MPI_Win_unlock(0, window.get());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Where the kernel copies between processes at all, a target that waits in MPI takes part sooner or
/// later, in operations of each kind.
void target_takes_part(const Window& window) {
  constexpr int tries = 100'000;
  constexpr int count = 16384;
  const PerformanceVariable calls("rma_calls");
  const PerformanceVariable kernel("rma_kernel_copies");
  if (rank == 1) {
    Words values(count, 1);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.get());
    const auto take_part = [&](auto&& operate, const char* what) {
      const unsigned long long before = calls.value();
      operate();
      const bool by_kernel = kernel.value() != 0;
      for (int i = 0; by_kernel && i < tries && calls.value() == before; ++i) operate();
      expect(!by_kernel || calls.value() != before, what);
    };
    take_part(
        [&] {
          MPI_Put(values.data(), count, MPI_INT64_T, 0, window.at(0, 0), count, MPI_INT64_T,
                  window.get());
        },
        "a put that the target takes part in");
    take_part(
        [&] {
          MPI_Get(values.data(), count, MPI_INT64_T, 0, window.at(0, 0), count, MPI_INT64_T,
                  window.get());
        },
        "a get that the target takes part in");
    take_part(
        [&] {
          MPI_Accumulate(values.data(), count, MPI_INT64_T, 0, window.at(0, 0), count, MPI_INT64_T,
                         MPI_MAX, window.get());
        },
        "an accumulate that the target takes part in");
    MPI_Win_unlock(0, window.get());
    expect(values == Words(count, 1), "what was got");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  for (const Kind kind : kinds) {
    const Window window(kind, (longest + 2) * sizeof(std::int64_t));
    for (const std::size_t words : lengths) {
      put_and_get(window, words);
      accumulate(window, words);
    }
    target_computes(window);
    target_takes_part(window);
  }
  MPI_T_finalize();
  return test::finish();
}
