// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 2 4
// networks: tcp
//
// Sends are cancelled whose receivers are in MPI_Finalize, or have returned from it: they complete
// (MPI 5.0, 11.2.2), and no process has received them. So many that no room is left for words to the
// receiver.

#include <mpi.h>
#include <unistd.h>

#include <vector>

#include "support/check.h"

namespace {

constexpr int tag = 5;

void cancel(MPI_Request& request) {
  MPI_Status status;
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  int cancelled = 0;
  MPI_Test_cancelled(&status, &cancelled);
  test::expect(cancelled != 0, "the send was cancelled");
}

void cancel_one_by_one(int to, const std::vector<char>& data) {
  const auto bytes = static_cast<int>(data.size());
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < 300; ++i) {
    MPI_Issend(data.data(), 8, MPI_CHAR, to, tag, MPI_COMM_WORLD, &request);
    cancel(request);
    MPI_Isend(data.data(), bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD, &request);
    cancel(request);
  }
}

void cancel_many(int to, const std::vector<char>& data) {
  std::vector<MPI_Request> requests(3000);
  for (MPI_Request& request : requests) {
    MPI_Issend(data.data(), 8, MPI_CHAR, to, tag, MPI_COMM_WORLD, &request);
  }
  for (MPI_Request& request : requests) cancel(request);
}

/// Loops of tests complete it, too.
void cancel_and_test(int to, const std::vector<char>& data) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_CHAR, to, tag, MPI_COMM_WORLD,
            &request);
  MPI_Cancel(&request);
  int done = 0;
  while (done == 0) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

}  // namespace

/// Rank 0 stays; the others leave at once, one of them after a message that it has received.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  std::vector<char> data(1U << 20);
  if (rank == 0) {
    MPI_Send(data.data(), 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    for (int to = 1; to < size; ++to) cancel_and_test(to, data);
    ::usleep(50'000);
    for (int to = 1; to < size; ++to) {
      cancel_one_by_one(to, data);
      cancel_many(to, data);
    }
  } else if (rank == 1) {
    MPI_Recv(data.data(), 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return test::failures() == 0 ? 0 : 1;
}
