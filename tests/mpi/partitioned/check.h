// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <numeric>
#include <vector>

#include "../p2p/check.h"

// What the tests of partitioned communication share (MPI 5.0 chapter 4).
namespace check {

inline int right() { return (rank() + 1) % size(); }
inline int left() { return (rank() + size() - 1) % size(); }

/// Marks partitions one by one in this order.
inline void ready(MPI_Request request, const std::vector<int>& order) {
  for (const int partition : order) ok(MPI_Pready(partition, request));
}
inline std::vector<int> numbers(int count) {
  std::vector<int> made(static_cast<std::size_t>(count));
  std::iota(made.begin(), made.end(), 0);
  return made;
}

/// Returns when a partition has arrived.
inline void await(MPI_Request request, int partition, Where where = Where::current()) {
  for (int flag = 0; flag == 0;) {
    const int code = MPI_Parrived(request, partition, &flag);
    ok(code, where);
    if (code != MPI_SUCCESS) return;
  }
}

inline void wait_for(MPI_Request& request, Where where = Where::current()) {
  const MPI_Request before = request;
  ok(MPI_Wait(&request, MPI_STATUS_IGNORE), where);
  that(request == before, "a partitioned request outlives its completion", where);
}
inline void free(MPI_Request& request, Where where = Where::current()) {
  ok(MPI_Request_free(&request), where);
  that(request == MPI_REQUEST_NULL, "the handle of a freed request", where);
}

}  // namespace check
