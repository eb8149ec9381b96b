// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Blocking collective calls of all lengths among ranks of one node: in one piece and in many, on
// communicators made early and late, with ranks far ahead of others.
// ranks: 1 2 3 5 8

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "support/collectives.h"

namespace {

using test::expect_equal;
using test::mark;

/// More communicators than have memory for long data on a collective area.
void run_on_late_communicators() {
  constexpr int many = 12;
  std::vector<MPI_Comm> comms(many);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  test::run_all_kinds_blocking(comms.back(), {1, 40, 700});
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

std::vector<std::uint32_t> numbers(int rank, int count, int round) {
  std::vector<std::uint32_t> data(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) data[static_cast<std::size_t>(i)] = mark(rank, i, round);
  return data;
}

/// Calls in a row that one rank can leave long before the others come.
void run_ahead(int count, int rounds) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const auto elements = static_cast<std::size_t>(count);
  for (int round = 0; round < rounds; ++round) {
    auto data = numbers(rank == 0 ? 0 : 99, count, round);
    MPI_Bcast(data.data(), count, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    expect_equal(data.back(), mark(0, count - 1, round), "MPI_Bcast in a row");
  }
  for (int round = 0; round < rounds; ++round) {
    const auto own = numbers(rank, count, round);
    std::vector<std::uint32_t> all(rank == size - 1 ? elements * static_cast<std::size_t>(size)
                                                    : 0);
    MPI_Gather(own.data(), count, MPI_UINT32_T, all.data(), count, MPI_UINT32_T, size - 1,
               MPI_COMM_WORLD);
    for (std::size_t i = elements; i <= all.size(); i += elements) {
      const int from = static_cast<int>(i / elements) - 1;
      expect_equal(all[i - 1], mark(from, count - 1, round), "MPI_Gather in a row");
    }
  }
  for (int round = 0; round < rounds; ++round) {
    const auto own = numbers(rank, count, round);
    std::vector<std::uint32_t> sum(elements);
    MPI_Reduce(own.data(), sum.data(), count, MPI_UINT32_T, MPI_SUM, 0, MPI_COMM_WORLD);
    std::uint32_t expected = 0;
    for (int from = 0; from < size; ++from) expected += mark(from, count - 1, round);
    if (rank == 0) expect_equal(sum.back(), expected, "MPI_Reduce in a row");
  }
}

/// Roots that change: a rank that was ahead has to wait.
void change_roots() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  for (int round = 0; round < 60; ++round) {
    const int root = round / 3 % size;
    const int count = 1 << (round % 14);
    auto data = numbers(rank, count, round);
    MPI_Bcast(data.data(), count, MPI_UINT32_T, root, MPI_COMM_WORLD);
    expect_equal(data.back(), mark(root, count - 1, round), "MPI_Bcast with changing roots");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = test::size_of(MPI_COMM_WORLD);
  test::run_all_kinds_blocking(MPI_COMM_WORLD, {0, 1, 13, 256, 257, 5000, 150000 / size});
  run_on_late_communicators();
  run_ahead(1, 400);
  run_ahead(200, 200);
  run_ahead(30000, 12);
  change_roots();
  return test::finish();
}
