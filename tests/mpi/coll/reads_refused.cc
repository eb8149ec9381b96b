// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collective calls whose ranks would read or write each other's memory; but one of them refuses to.
// ranks: 2 3 5
// env: FULMAR_COLL=alltoall:read,scatter:read,gather:write,reduce:read,reduce_scatter:read

#include <cstdlib>
#include <cstring>

#include "support/collectives.h"

int main(int argc, char** argv) {
  const char* const rank = std::getenv("FULMAR_RANK");
  if (rank != nullptr && std::strcmp(rank, "1") == 0) ::setenv("FULMAR_SINGLE_COPY", "0", 1);
  MPI_Init(&argc, &argv);
  const int size = test::size_of(MPI_COMM_WORLD);
  test::run_all_kinds_blocking(MPI_COMM_WORLD, {0, 1, 257, 5000, 150000 / size});
  return test::finish();
}
