// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collective calls of every kind with algorithms that are asked for, whatever the length.
// ranks: 1 2 3 5 8
// env:
// FULMAR_COLL=bcast:spread,gather:binomial,scatter:binomial,allgather:direct,reduce:chain,allreduce:doubling,reduce_scatter:halving

#include "support/collectives.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test::run_all_kinds(MPI_COMM_WORLD, {0, 1, 4, 65, 50000 / test::size_of(MPI_COMM_WORLD)});
  return test::finish();
}
