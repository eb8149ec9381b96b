// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A node that looks at its memory and makes no call: writes arrive all the same. And RWAPI beside
// MPI in one program, in both orders of their ends.
// ranks: 2 4
// networks: tcp
#include <mpi.h>

#include <atomic>
#include <vector>

#include "rwapi/nodes.h"

namespace {

using test::expect;
using test::expect_equal;

void check_computing_node() {
  rwapi_net flag_net{};
  auto* const flag = static_cast<int*>(rwapi_alloc(sizeof(int), &flag_net));
  rwapi_net value_net{};
  auto* const value = static_cast<int*>(rwapi_alloc(sizeof(int), &value_net));
  std::vector<rwapi_net> flags;
  test::exchange(flag_net, flags);
  *value = rwapi_rank() + 1;
  const int next = (rwapi_rank() + 1) % rwapi_size();
  const int before = (rwapi_rank() + rwapi_size() - 1) % rwapi_size();
  const rwapi_sid sid =
      rwapi_write(next, value_net, flags[static_cast<std::size_t>(next)], sizeof(int));
  if (sid < 0) expect_equal(sid, 0, "a write");
  test::await([&] { return std::atomic_ref(*flag).load(std::memory_order_acquire) != 0; },
              "a value in memory, without a call");
  expect_equal(*flag, before + 1, "the value");
  expect_equal(test::ended(sid), 1, "the end of the own write");
}

void check_mpi() {
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect_equal(sum, rwapi_size(), "MPI beside RWAPI");
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect_equal(rank, rwapi_rank(), "one numbering");
}

}  // namespace

int main(int argc, char** argv) {
  test::begin();
  check_computing_node();
  MPI_Init(&argc, &argv);
  check_mpi();
  check_computing_node();
  expect_equal(rwapi_finalize(), RWAPI_OK, "finalize before MPI_Finalize");
  expect_equal(rwapi_init(argc, argv), RWAPI_OK, "init under MPI");
  check_mpi();
  check_computing_node();
  MPI_Finalize();
  check_computing_node();
  expect_equal(rwapi_finalize(), RWAPI_OK, "finalize after MPI_Finalize");
  return test::result();
}
