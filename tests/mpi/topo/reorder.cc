// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Ranks that mpiexec dealt round robin over the cores: with `reorder`, neighbours of a line come to
// run on the same core wherever that is possible, and all kinds of topology stay consistent.
// launch: --bind-to core --map-by core
// ranks: 1 4 6

#include <mpi.h>
#include <sched.h>

#include <array>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;
using test::rank_of;
using test::size_of;
using Ints = std::vector<int>;

/// The first processor that this process may run on.
int own_processor() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  for (int id = 0; id < CPU_SETSIZE; ++id) {
    if (CPU_ISSET(id, &set)) return id;
  }
  return -1;
}

/// How often the processor changes along the line of ranks.
int changes_along(MPI_Comm comm) {
  const int own = own_processor();
  Ints all(static_cast<std::size_t>(size_of(comm)));
  MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
  int changes = 0;
  for (std::size_t i = 1; i < all.size(); ++i) changes += all[i] != all[i - 1] ? 1 : 0;
  return changes;
}

/// The least that is possible: each processor is one stretch of the line.
int least_changes() {
  const int own = own_processor();
  Ints all(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::array<bool, CPU_SETSIZE> seen{};
  int different = 0;
  for (const int id : all) {
    const auto i = static_cast<std::size_t>(id);
    different += seen[i] ? 0 : 1;
    seen[i] = true;
  }
  return different - 1;
}

void check(MPI_Comm comm, const char* what) {
  expect_equal(changes_along(comm), least_changes(), what);
  int rank = rank_of(comm);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect_equal(sum, size_of(comm) * (size_of(comm) - 1) / 2, "everybody is in it once");
}

void check_line_as_grid(int size) {
  const int period = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 1, &comm);
  check(comm, "grid");
  int mapped = -1;
  MPI_Cart_map(MPI_COMM_WORLD, 1, &size, &period, &mapped);
  expect_equal(mapped, rank_of(comm), "MPI_Cart_map says the same");
  MPI_Comm_free(&comm);
}

void check_line_as_graph(int size) {
  Ints index;
  Ints edges;
  for (int node = 0; node < size; ++node) {
    if (node > 0) edges.push_back(node - 1);
    if (node < size - 1) edges.push_back(node + 1);
    index.push_back(static_cast<int>(edges.size()));
  }
  edges.reserve(1);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), edges.data(), 1, &comm);
  check(comm, "graph");
  int mapped = -1;
  MPI_Graph_map(MPI_COMM_WORLD, size, index.data(), edges.data(), &mapped);
  expect_equal(mapped, rank_of(comm), "MPI_Graph_map says the same");
  MPI_Comm_free(&comm);
}

/// After it, each process has the edges of its new rank.
void check_line_as_dist_graph(int size) {
  const int rank = rank_of(MPI_COMM_WORLD);
  const int degree = rank < size - 1 ? 1 : 0;
  const int next = rank + 1;
  const int weight = 10 + rank;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &next,
                        degree == 0 ? MPI_WEIGHTS_EMPTY : &weight, MPI_INFO_NULL, 1, &comm);
  check(comm, "distributed graph");
  int source = -1;
  int dest = -1;
  int source_weight = -1;
  int dest_weight = -1;
  MPI_Dist_graph_neighbors(comm, 1, &source, &source_weight, 1, &dest, &dest_weight);
  const int own = rank_of(comm);
  expect_equal(source, own > 0 ? own - 1 : -1, "source");
  expect_equal(source_weight, own > 0 ? 10 + own - 1 : -1, "its weight");
  expect_equal(dest, own < size - 1 ? own + 1 : -1, "destination");
  expect_equal(dest_weight, own < size - 1 ? 10 + own : -1, "its weight");
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = size_of(MPI_COMM_WORLD);
  check_line_as_grid(size);
  check_line_as_graph(size);
  check_line_as_dist_graph(size);
  return test::finish();
}
