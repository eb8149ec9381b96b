// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>
#include <sys/uio.h>
#include <unistd.h>

#include <vector>

#include "support/check.h"

namespace test {

/// Whether each rank may read the memory of each other, tried without MPI's help.
inline bool reads_each_other(MPI_Comm comm) {
  struct Place {
    long long process;
    const int* address;
  };
  const int size = size_of(comm);
  static const int sign = 4711;
  const Place own{::getpid(), &sign};
  std::vector<Place> places(static_cast<std::size_t>(size));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, places.data(), sizeof own, MPI_BYTE, comm);
  int may_read = 1;
  for (const Place& place : places) {
    int seen = 0;
    const iovec to{&seen, sizeof seen};
    const iovec from{const_cast<int*>(place.address), sizeof seen};
    const auto process = static_cast<pid_t>(place.process);
    if (::process_vm_readv(process, &to, 1, &from, 1, 0) != sizeof seen) may_read = 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &may_read, 1, MPI_INT, MPI_MIN, comm);
  return may_read == 1;
}

}  // namespace test
