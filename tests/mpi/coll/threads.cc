// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collective calls by several threads at the same time, each on a communicator of its own, and
// threads that make communicators meanwhile.
// ranks: 1 2 4

#include <mpi.h>

#include <thread>
#include <vector>

#include "support/check.h"

namespace {

constexpr int threads = 4;

void work(MPI_Comm comm, int thread) {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 200; ++i) {
    const int own = rank + i * thread;
    int sum = -1;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    test::expect_equal(sum, size * (size - 1) / 2 + size * i * thread, "a sum");
    int word = rank == i % size ? i : -1;
    MPI_Bcast(&word, 1, MPI_INT, i % size, comm);
    test::expect_equal(word, i, "a broadcast");
    std::vector<int> all(static_cast<std::size_t>(size) * 500, -1);
    const std::vector<int> mine(500, own);
    MPI_Allgather(mine.data(), 500, MPI_INT, all.data(), 500, MPI_INT, comm);
    test::expect_equal(all.back(), size - 1 + i * thread, "a gathered block");
    if (i % 50 == 0) {
      MPI_Comm dup = MPI_COMM_NULL;
      MPI_Comm_dup(comm, &dup);
      MPI_Barrier(dup);
      MPI_Comm_free(&dup);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  test::expect_equal(provided, MPI_THREAD_MULTIPLE, "threads");
  std::vector<MPI_Comm> comms(threads, MPI_COMM_NULL);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back(work, comms[static_cast<std::size_t>(i)], i);
  for (std::thread& worker : workers) worker.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  return test::finish();
}
