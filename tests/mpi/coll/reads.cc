// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collective calls whose ranks read or write each other's memory, of all lengths and layouts.
// ranks: 1 2 3 5 8
// env: FULMAR_COLL=alltoall:read,scatter:read,gather:write,reduce:read,reduce_scatter:read

#include <vector>

#include "support/collectives.h"
#include "support/memory_of_others.h"
#include "support/performance_variable.h"

namespace {

using test::expect_equal;
using test::mark;

/// An all-to-all of `count` numbers for each rank.
void exchange(int count) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const auto all = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  std::vector<std::uint32_t> from(all);
  std::vector<std::uint32_t> to(all);
  for (int peer = 0; peer < size; ++peer) {
    for (int i = 0; i < count; ++i) {
      from[static_cast<std::size_t>(peer * count + i)] = mark(rank, i, peer);
    }
  }
  MPI_Alltoall(from.data(), count, MPI_UINT32_T, to.data(), count, MPI_UINT32_T, MPI_COMM_WORLD);
  for (int peer = 0; peer < size; ++peer) {
    for (int i = 0; i < count; ++i) {
      expect_equal(to[static_cast<std::size_t>(peer * count + i)], mark(peer, i, rank),
                   "MPI_Alltoall by reading");
    }
  }
}

/// A scatter of `count` numbers for each rank, by every root, in memory of its own and in place.
void scatter(int count) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const auto one = static_cast<std::size_t>(count);
  for (int root = 0; root < size; ++root) {
    std::vector<std::uint32_t> from(rank == root ? one * static_cast<std::size_t>(size) : 0);
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] = mark(root, static_cast<int>(i) % count, static_cast<int>(i) / count);
    }
    std::vector<std::uint32_t> to(one);
    MPI_Scatter(from.data(), count, MPI_UINT32_T, to.data(), count, MPI_UINT32_T, root,
                MPI_COMM_WORLD);
    if (rank == root) {
      MPI_Scatter(from.data(), count, MPI_UINT32_T, MPI_IN_PLACE, 0, MPI_UINT32_T, root,
                  MPI_COMM_WORLD);
    } else {
      std::vector<std::uint32_t> again(one);
      MPI_Scatter(nullptr, 0, MPI_UINT32_T, again.data(), count, MPI_UINT32_T, root,
                  MPI_COMM_WORLD);
      expect_equal(again == to, true, "two scatters of the same");
    }
    for (int i = 0; i < count; ++i) {
      expect_equal(to[static_cast<std::size_t>(i)], mark(root, i, rank), "MPI_Scatter by reading");
    }
  }
}

/// One read for each block of others, where the system allows it, and else none that succeeds.
void count_reads() {
  const int others = test::size_of(MPI_COMM_WORLD) - 1;
  const int reads = test::reads_each_other(MPI_COMM_WORLD) ? others : 0;
  {
    const test::PerformanceVariable copies("device_single_copies");
    exchange(5000);
    expect_equal(copies.value(), static_cast<long long>(reads), "reads of one all-to-all");
  }
  const test::PerformanceVariable copies("device_single_copies");
  scatter(5000);
  // Every rank reads one block of two calls of each other root.
  expect_equal(copies.value(), static_cast<long long>(2 * reads), "reads of scatters");
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_Init(&argc, &argv);
  const int size = test::size_of(MPI_COMM_WORLD);
  test::run_all_kinds_blocking(MPI_COMM_WORLD, {0, 1, 257, 5000, 150000 / size});
  count_reads();
  const int failed = test::finish();
  MPI_T_finalize();
  return failed;
}
