// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/joining/exchange.h"

#include <algorithm>
#include <cstdint>

#include "fulmar/measure/batches.h"

namespace fulmar::joining {

namespace {

constexpr int step_tag = 9;

/// What a step carries: 8 bytes.
struct Word {
  std::int32_t ready;
  std::int32_t last;  ///< number of the last step; -1: not known yet
};
static_assert(sizeof(Word) == 8);

}  // namespace

void exchange(MPI_Comm comm, const Until& until, std::vector<double>& ends_ns) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  const double earliest = measure::now_ns() + until.least_ns;
  std::int32_t last = -1;
  for (std::int32_t step = 0; last < 0 || step <= last; ++step) {
    const bool ready = until.ready == nullptr || until.ready->load(std::memory_order_acquire);
    const Word mine{ready ? 1 : 0, last};
    Word theirs{};
    MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, next, step_tag, &theirs, sizeof theirs, MPI_BYTE,
                 before, step_tag, comm, MPI_STATUS_IGNORE);
    ends_ns.push_back(measure::now_ns());
    if (rank != 0) {
      last = std::max(last, theirs.last);
    } else if (last < 0 && ready && theirs.ready != 0 && ends_ns.back() >= earliest) {
      last = step + size;  // it takes size - 1 steps until the last rank knows
    }
  }
}

}  // namespace fulmar::joining
