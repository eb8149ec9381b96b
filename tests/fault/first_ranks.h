// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

namespace test {

/// The group of the first `count` ranks of a communicator.
inline MPI_Group first_ranks(MPI_Comm comm, int count) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group first = MPI_GROUP_NULL;
  int range[1][3] = {{0, count - 1, 1}};
  MPI_Comm_group(comm, &all);
  MPI_Group_range_incl(all, 1, range, &first);
  MPI_Group_free(&all);
  return first;
}

}  // namespace test
