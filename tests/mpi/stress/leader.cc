// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 2
// timeout: 60
//
// One thread sleeps in a receive and makes progress for the process; another one sends more than
// the ring holds to a rank that is busy. The sleeper must hear of the room in the ring.
#include <mpi.h>

#include <chrono>
#include <thread>
#include <vector>

#include "support/check.h"

namespace {

constexpr int rounds = 6;
constexpr int messages = 3000;
/// Long enough that the other thread, or the other rank, sleeps meanwhile.
constexpr auto nap = std::chrono::milliseconds(60);
/// A wake-up that is lost is made up for after a second.
constexpr double lost_s = 0.6;

void send_floods(MPI_Comm quiet, MPI_Comm comm) {
  std::thread sleeper([=] {
    for (int i = 0; i < rounds; ++i) MPI_Recv(nullptr, 0, MPI_INT, 1, 0, quiet, MPI_STATUS_IGNORE);
  });
  int slow_rounds = 0;
  std::vector<char> data(40);
  std::vector<MPI_Request> requests(messages);
  for (int i = 0; i < rounds; ++i) {
    std::this_thread::sleep_for(nap);
    const double begin = MPI_Wtime();
    for (MPI_Request& request : requests) {
      MPI_Isend(data.data(), 40, MPI_CHAR, 1, 1, comm, &request);
    }
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
    if (MPI_Wtime() - begin > lost_s) ++slow_rounds;
    MPI_Send(nullptr, 0, MPI_INT, 1, 2, comm);
  }
  sleeper.join();
  // A busy machine may delay one or two of them.
  test::expect(slow_rounds < rounds / 2, "a flood of one thread passes while another one sleeps");
}

void take_floods(MPI_Comm quiet, MPI_Comm comm) {
  std::vector<char> data(40);
  for (int i = 0; i < rounds; ++i) {
    std::this_thread::sleep_for(nap + nap / 2);
    for (int k = 0; k < messages; ++k) {
      MPI_Recv(data.data(), 40, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE);
    }
    MPI_Recv(nullptr, 0, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
    MPI_Send(nullptr, 0, MPI_INT, 0, 0, quiet);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  test::expect_equal(provided, MPI_THREAD_MULTIPLE, "threads");
  MPI_Comm quiet;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (test::rank_of(comm) == 0) {
    send_floods(quiet, comm);
  } else {
    take_floods(quiet, comm);
  }
  MPI_Comm_free(&comm);
  MPI_Comm_free(&quiet);
  return test::finish();
}
