// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_THREAD_MULTIPLE: on each rank four threads talk to their namesakes on the neighbours, each in
// its own way, while a fifth is blocked in a receive that only the end answers.
#include <mpi.h>

#include <array>
#include <thread>
#include <vector>

#include "support/check.h"

namespace {

constexpr int thread_count = 4;
constexpr int rounds = 300;
constexpr std::array<int, 5> lengths = {1, 12, 100, 9000, 40000};  // ints: all protocols

struct Neighbours {
  int left;
  int right;
};

/// What element `i` of a message is.
int value(int sender, int round, int i) { return sender * 7919 + round * 13 + i; }

std::vector<int> message(int sender, int round) {
  std::vector<int> data(static_cast<std::size_t>(lengths[static_cast<std::size_t>(round) % 5]));
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = value(sender, round, static_cast<int>(i));
  }
  return data;
}

int count_of(const std::vector<int>& data) { return static_cast<int>(data.size()); }

/// Thread 0: non-blocking both ways, one wait for both.
void wait_for_all(Neighbours to, int tag, int round, const std::vector<int>& out,
                  std::vector<int>& in) {
  MPI_Request requests[2];
  MPI_Irecv(in.data(), count_of(in), MPI_INT, to.left, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out.data(), count_of(out), MPI_INT, to.right, tag, MPI_COMM_WORLD, &requests[1]);
  if (round % 2 == 0) {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    return;
  }
  for (int done = 0; done < 2; ++done) {
    int index = 0;
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  }
}

/// Thread 1: probes before it receives.
void probe_first(Neighbours to, int tag, int round, const std::vector<int>& out,
                 std::vector<int>& in) {
  MPI_Request request;
  MPI_Isend(out.data(), count_of(out), MPI_INT, to.right, tag, MPI_COMM_WORLD, &request);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  int found = 0;
  if (round % 2 == 0) MPI_Mprobe(to.left, tag, MPI_COMM_WORLD, &message, &status);
  while (round % 2 != 0 && found == 0) {
    MPI_Improbe(to.left, tag, MPI_COMM_WORLD, &found, &message, &status);
  }
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  test::expect_equal(count, count_of(in), "length told by a probe");
  MPI_Mrecv(in.data(), count_of(in), MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// Thread 2: blocking.
void combined(Neighbours to, int tag, int, const std::vector<int>& out, std::vector<int>& in) {
  MPI_Sendrecv(out.data(), count_of(out), MPI_INT, to.right, tag, in.data(), count_of(in), MPI_INT,
               to.left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Thread 3: synchronous sends, and tests until done.
void test_until_done(Neighbours to, int tag, int, const std::vector<int>& out,
                     std::vector<int>& in) {
  MPI_Request requests[2];
  MPI_Issend(out.data(), count_of(out), MPI_INT, to.right, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in.data(), count_of(in), MPI_INT, to.left, tag, MPI_COMM_WORLD, &requests[1]);
  for (int done = 0; done == 0;) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
}

void talk(int thread, Neighbours to, int rank) {
  constexpr std::array ways = {wait_for_all, probe_first, combined, test_until_done};
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> out = message(rank, round);
    std::vector<int> in(out.size(), -1);
    ways[static_cast<std::size_t>(thread)](to, thread, round, out, in);
    if (in != message(to.left, round)) {
      test::expect(false, "what a thread received");
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  test::expect_equal(provided, MPI_THREAD_MULTIPLE, "level of thread support");
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const Neighbours to{(rank + size - 1) % size, (rank + 1) % size};

  int last = 0;
  std::thread blocked(
      [&] { MPI_Recv(&last, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([=] { talk(i, to, rank); });
  }
  for (std::thread& thread : threads) thread.join();
  const int word = 4711;
  MPI_Send(&word, 1, MPI_INT, to.right, 99, MPI_COMM_WORLD);
  blocked.join();
  test::expect_equal(last, 4711, "what the blocked thread received");
  return test::finish();
}
