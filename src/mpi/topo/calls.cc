// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/topo/calls.h"

namespace fulmar::mpi {

base::Error topo_test(Comm&, int& status) {
  status = MPI_UNDEFINED;
  return {};
}

}  // namespace fulmar::mpi
