// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 2 3
// env: FULMAR_MEMORY=65536 FULMAR_PROGRESS_THREAD=on
// networks: tcp
//
// Messages that a receiver without room for them has asked to keep stay kept over a checkpoint, and come in order
// afterwards. The progress thread is not there meanwhile, and back later.
#include <mpi-ext.h>
#include <mpi.h>

#include <filesystem>
#include <vector>

#include "support/check.h"

namespace {

using test::expect_equal;

constexpr int messages = 300;
constexpr int ints = 500;

long threads() {
  long found = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ++found;
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  const long before = threads();
  std::vector<std::vector<int>> sent(messages, std::vector<int>(ints));
  std::vector<MPI_Request> requests(messages);
  for (int i = 0; i < messages; ++i) {
    auto& data = sent[static_cast<std::size_t>(i)];
    data.assign(ints, rank * messages + i);
    MPI_Isend(data.data(), ints, MPI_INT, next, 0, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(i)]);
  }
  for (int round = 0; round < 3; ++round) {
    expect_equal(MPIX_Checkpoint_quiesce(MPI_INFO_NULL), MPI_SUCCESS, "quiesce");
    expect_equal(threads(), before - 1, "threads");
    expect_equal(MPIX_Checkpoint_resume(MPI_INFO_NULL), MPI_SUCCESS, "resume");
    expect_equal(threads(), before, "threads afterwards");
  }
  std::vector<int> got(ints);
  for (int i = 0; i < messages; ++i) {
    MPI_Recv(got.data(), ints, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_equal(got.front(), previous * messages + i, "first number");
    expect_equal(got.back(), previous * messages + i, "last number");
  }
  MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
  return test::finish();
}
