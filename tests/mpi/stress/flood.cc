// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 9
// env: FULMAR_MEMORY=8000000
// args: 160000
//
// Every rank floods rank 0, which has posted nothing, with short messages (as many in all as the
// argument says; soak: ten million). Its memory stays within the budget, the message that each
// sender sends last can be received first, and all others come in order.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "support/check.h"
#include "support/sanitized.h"

namespace {

/// A line of /proc/self/status, in KiB.
long status_kib(const char* name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  long value = 0;
  while (status >> word) {
    if (word == name) status >> value;
  }
  return value;
}

long budget_kib() {
  const char* text = std::getenv("FULMAR_MEMORY");
  return (text == nullptr ? 33554432 : std::strtol(text, nullptr, 10)) / 1024;
}

int content(int sender, int number) { return number * 31 + sender; }

void send_all(int count) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  std::vector<int> values(static_cast<std::size_t>(count));
  std::vector<MPI_Request> requests(values.size());
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    values[at] = content(rank, i);
    MPI_Isend(&values[at], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[at]);
  }
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
}

/// What was sent last, from every rank, before anything else.
void receive_last(int senders, int count) {
  std::vector<int> values(static_cast<std::size_t>(senders));
  std::vector<MPI_Request> requests(values.size());
  for (int i = 0; i < senders; ++i) {
    const auto at = static_cast<std::size_t>(i);
    MPI_Irecv(&values[at], 1, MPI_INT, i + 1, count - 1, MPI_COMM_WORLD, &requests[at]);
  }
  MPI_Waitall(senders, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < senders; ++i) {
    test::expect_equal(values[static_cast<std::size_t>(i)], content(i + 1, count - 1),
                       "the last message");
  }
}

void receive_rest(int senders, int count) {
  std::vector<int> next(static_cast<std::size_t>(senders) + 1, 0);
  for (long left = static_cast<long>(senders) * (count - 1); left > 0; --left) {
    int value = -1;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    int& expected = next[static_cast<std::size_t>(status.MPI_SOURCE)];
    test::expect_equal(status.MPI_TAG, expected, "messages of a sender come in order");
    test::expect_equal(value, content(status.MPI_SOURCE, status.MPI_TAG), "content");
    expected = status.MPI_TAG + 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int senders = test::size_of(MPI_COMM_WORLD) - 1;
  const long all = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 160'000;
  const int count = std::max(static_cast<int>(all / std::max(senders, 1)), 2);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before_kib = status_kib("VmRSS:");
  const double begin = MPI_Wtime();
  if (test::rank_of(MPI_COMM_WORLD) != 0) {
    send_all(count);
  } else {
    receive_last(senders, count);
    receive_rest(senders, count);
    const long grown_kib = status_kib("VmHWM:") - before_kib;
    std::printf("%d messages of each of %d senders in %.1f s; the receiver grew by %ld KiB\n",
                count, senders, MPI_Wtime() - begin, grown_kib);
    // Not all of the budget is for data: half of it.
    if (!test::sanitized) test::expect(grown_kib <= budget_kib(), "the budget is kept");
  }
  return test::finish();
}
