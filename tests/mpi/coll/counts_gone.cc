// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Non-blocking calls with counts and displacements that the program uses otherwise as soon as the call has returned.
// MPI 5.0 section 6.12 forbids that; other libraries allow it, and mpi4py does it.
// ranks: 2 4
// env: FULMAR_COLL=auto

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "support/check.h"

namespace {

constexpr int token = 3;

/// Counts and displacements of blocks of `count` for each rank, gone with this object.
struct Arrays {
  explicit Arrays(int count)
      : counts(static_cast<std::size_t>(test::size_of(MPI_COMM_WORLD)), count),
        displs(counts.size()) {
    for (std::size_t i = 0; i < displs.size(); ++i) displs[i] = static_cast<int>(i) * count;
  }
  ~Arrays() {
    std::fill(counts.begin(), counts.end(), 1 << 30);
    std::fill(displs.begin(), displs.end(), -(1 << 30));
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  std::vector<int> counts;
  std::vector<int> displs;
};

/// Each call is made by rank 0 last, after the others have lost their arrays.
template <class Start>
void late_first_rank(Start&& start) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    for (int other = 1; other < size; ++other) {
      MPI_Recv(nullptr, 0, MPI_BYTE, other, token, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  start(request);
  if (rank != 0) MPI_Send(nullptr, 0, MPI_BYTE, 0, token, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void try_length(int count) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const auto all = static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
  std::vector<int> mine(all, rank);
  std::vector<int> got(all, -1);
  const auto check = [&](const char* call) {
    for (std::size_t i = 0; i < all; ++i) {
      test::expect_equal(got[i], static_cast<int>(i) / count, call);
    }
    std::fill(got.begin(), got.end(), -1);
  };
  late_first_rank([&](MPI_Request& request) {
    const Arrays arrays(count);
    MPI_Iallgatherv(mine.data(), count, MPI_INT, got.data(), arrays.counts.data(),
                    arrays.displs.data(), MPI_INT, MPI_COMM_WORLD, &request);
  });
  check("MPI_Iallgatherv");
  late_first_rank([&](MPI_Request& request) {
    const Arrays out(count);
    const Arrays in(count);
    MPI_Ialltoallv(mine.data(), out.counts.data(), out.displs.data(), MPI_INT, got.data(),
                   in.counts.data(), in.displs.data(), MPI_INT, MPI_COMM_WORLD, &request);
  });
  check("MPI_Ialltoallv");
  late_first_rank([&](MPI_Request& request) {
    const Arrays arrays(count);
    MPI_Igatherv(mine.data(), count, MPI_INT, got.data(), arrays.counts.data(),
                 arrays.displs.data(), MPI_INT, 1, MPI_COMM_WORLD, &request);
  });
  if (rank == 1) check("MPI_Igatherv");
  std::vector<int> sum(static_cast<std::size_t>(count), -1);
  late_first_rank([&](MPI_Request& request) {
    const Arrays arrays(count);
    MPI_Ireduce_scatter(mine.data(), sum.data(), arrays.counts.data(), MPI_INT, MPI_SUM,
                        MPI_COMM_WORLD, &request);
  });
  for (const int value : sum) {
    test::expect_equal(value, size * (size - 1) / 2, "MPI_Ireduce_scatter");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const int count : {1, 100, 30'000}) try_length(count);
  return test::finish();
}
