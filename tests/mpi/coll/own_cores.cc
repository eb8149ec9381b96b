// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collective calls with the algorithms for ranks that have cores of their own, of lengths around those from which on
// ranks read and write each other's memory.
// ranks: 3 5
// env: FULMAR_COLL=cores:own

#include <vector>

#include "support/collectives.h"
#include "support/memory_of_others.h"
#include "support/performance_variable.h"

namespace {

/// How many single copies the ranks make in a call, all together.
template <class Call>
long long single_copies(Call&& call) {
  const test::PerformanceVariable copies("device_single_copies");
  call();
  long long own = copies.value();
  long long all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// One copy for each piece of an operand of another rank, and of a result that goes to the root.
void count_copies() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const int count = 65536 * size;  // parts of 256 KiB, which are combined in four pieces
  std::vector<int> from(static_cast<std::size_t>(count), rank + 1);
  std::vector<int> to(static_cast<std::size_t>(count));
  const int sum = size * (size + 1) / 2;
  const long long others = size - 1;
  test::expect_equal(
      single_copies(
          [&] { MPI_Reduce(from.data(), to.data(), count, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD); }),
      4 * (size * others + others), "copies of MPI_Reduce");
  if (rank == 1) test::expect_equal(to[static_cast<std::size_t>(count - 1)], sum, "MPI_Reduce");
  test::expect_equal(single_copies([&] {
                       MPI_Reduce_scatter_block(from.data(), to.data(), 65536, MPI_INT, MPI_SUM,
                                                MPI_COMM_WORLD);
                     }),
                     4 * size * others, "copies of MPI_Reduce_scatter_block");
  test::expect_equal(to[65535], sum, "MPI_Reduce_scatter_block");
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_Init(&argc, &argv);
  test::run_all_kinds_blocking(MPI_COMM_WORLD, {0, 1, 4096, 8192, 32768, 70000, 140000});
  if (test::reads_each_other(MPI_COMM_WORLD)) count_copies();
  const int failed = test::finish();
  MPI_T_finalize();
  return failed;
}
