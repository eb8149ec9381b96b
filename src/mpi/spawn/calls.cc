// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/spawn/calls.h"

namespace fulmar::mpi {

base::Error comm_get_parent(MPI_Comm& parent) {
  parent = MPI_COMM_NULL;
  return {};
}

}  // namespace fulmar::mpi
