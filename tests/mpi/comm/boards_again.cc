// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Memory of a freed communicator that some rank still reads is not used for another one: rank 1 is
// late, and rank 0 has meanwhile freed theirs and sends other data to rank 2.
// ranks: 3

#include <mpi.h>

#include <array>
#include <vector>

#include "support/check.h"

namespace {

constexpr int count = 30000;
constexpr int rounds = 6;

MPI_Comm pair_with(int other, int tag) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group pair = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const std::array<int, 2> ranks{0, other};
  MPI_Group_incl(world, 2, ranks.data(), &pair);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_create_group(MPI_COMM_WORLD, pair, tag, &comm);
  MPI_Group_free(&pair);
  MPI_Group_free(&world);
  return comm;
}

void bcast(MPI_Comm comm, char value) {
  std::vector<char> data(count, test::rank_of(comm) == 0 ? value : '\0');
  MPI_Bcast(data.data(), count, MPI_CHAR, 0, comm);
  test::expect(data == std::vector<char>(count, value), "data of this communicator");
}

void run(char value) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  if (rank != 2) {
    MPI_Comm first = pair_with(1, 1);
    // The root of a broadcast does not wait for late ranks.
    if (rank == 1) MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bcast(first, value);
    MPI_Comm_free(&first);
  }
  if (rank != 1) {
    MPI_Comm second = pair_with(2, 2);
    for (int i = 0; i < 5; ++i) {
      bcast(second, 'z');
      MPI_Barrier(second);
    }
    MPI_Comm_free(&second);
  }
  if (rank == 0) MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < rounds; ++i) {
    run(static_cast<char>('a' + i));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return test::finish();
}
