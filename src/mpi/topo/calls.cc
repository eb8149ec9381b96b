// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/topo/calls.h"

#include <array>

#include "mpi/comm/topology.h"

namespace fulmar::mpi {

base::Error topo_test(Comm& comm, int& status) {
  constexpr std::array<int, 3> kinds = {MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH};
  status = comm.topology == nullptr ? MPI_UNDEFINED : kinds[comm.topology->shape.index()];
  return {};
}

}  // namespace fulmar::mpi
