// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 2 64
// env: FULMAR_MEMORY=33554432
//
// What MPI adds to the memory of a process: less than the budget, with few and with many ranks of
// which most stay silent.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "support/check.h"
#include "support/sanitized.h"

namespace {

/// Pages of this process in memory, in KiB: its own, and those of the segment that it has touched.
/// What is read from files (the programs' text) all processes of a node have together.
long resident_kib() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return -1;
  long total = 0;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    long kib = 0;
    if (std::sscanf(line, "RssAnon: %ld", &kib) == 1) total += kib;
    if (std::sscanf(line, "RssShmem: %ld", &kib) == 1) total += kib;
  }
  std::fclose(file);
  return total;
}

/// Short and long messages with two neighbours.
void talk(int rank, int size) {
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  for (const int count : {1, 100, 50'000}) {
    const std::vector<int> out(static_cast<std::size_t>(count), rank);
    std::vector<int> in(out.size(), -1);
    for (int round = 0; round < 10; ++round) {
      MPI_Sendrecv(out.data(), count, MPI_INT, right, round, in.data(), count, MPI_INT, left, round,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    test::expect_equal(in.back(), left, "message of a neighbour");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long before = resident_kib();
  MPI_Init(&argc, &argv);
  const long joined = resident_kib() - before;
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  talk(rank, size);
  int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  test::expect_equal(sum, size, "sum over all ranks");
  const long mine[2] = {joined, resident_kib() - before};
  long most[2] = {0, 0};
  MPI_Reduce(mine, most, 2, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("%d ranks: MPI_Init adds up to %ld KiB to a process, with messages %ld KiB\n", size,
                most[0], most[1]);
    test::expect(before > 0 && most[0] > 0, "the process can see its size");
    if (!test::sanitized) {
      test::expect(most[1] <= 32 * 1024, "what MPI adds is within the budget");
    }
  }
  return test::finish();
}
