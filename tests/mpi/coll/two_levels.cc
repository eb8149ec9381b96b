// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Where ranks share several nodes, barrier, bcast, reduce and allreduce go in two levels without
// being told to: only one rank of each node has sent anything to another one afterwards.
// tests/cluster runs this over two hosts.
//
// ranks: 1 4

#include <mpi.h>

#include <vector>

#include "support/check.h"
#include "support/performance_variable.h"

namespace {

void call_all(int count) {
  std::vector<int> from(static_cast<std::size_t>(count), 1);
  std::vector<int> to(static_cast<std::size_t>(count));
  const int size = test::size_of(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(from.data(), count, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce(from.data(), to.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  test::expect_equal(to.back(), size, "MPI_Allreduce");
  MPI_Reduce(from.data(), to.data(), count, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // Before anything else is sent.
  call_all(1);
  call_all(1000);
  call_all(100000);
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  const auto peers =
      test::PerformanceVariable("device_connected_peers", MPI_T_PVAR_CLASS_LEVEL).value();
  MPI_T_finalize();
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const int leads = test::rank_of(node) == 0 ? 1 : 0;
  int nodes = 0;
  MPI_Allreduce(&leads, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int most = test::size_of(node) - 1 + (leads != 0 ? nodes - 1 : 0);
  // One rank each: there is one level.
  if (nodes == test::size_of(MPI_COMM_WORLD)) most = nodes - 1;
  test::expect(peers <= static_cast<unsigned>(most), "only leaders send to other nodes");
  MPI_Comm_free(&node);
  return test::finish();
}
