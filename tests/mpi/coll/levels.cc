// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collective calls of every kind in levels by node, also where there is one node.
// ranks: 1 2 3 5 8
// env: FULMAR_COLL=barrier:levels,bcast:levels,reduce:levels,allreduce:levels

#include "support/collectives.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test::run_all_kinds(MPI_COMM_WORLD, {0, 1, 4, 65, 50000 / test::size_of(MPI_COMM_WORLD)});
  return test::finish();
}
