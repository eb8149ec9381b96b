// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A program of threads that is built with ThreadSanitizer and uses a library that is not. All that
// one thread does and another sees is ordered by MPI or by starting and joining threads, so there
// is nothing to report; with the argument `race` there is.
#include <mpi.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "support/check.h"

namespace {

constexpr int threads = 4;
constexpr int rounds = 20;
/// Through the ring at once, in pieces, and from memory to memory.
constexpr std::array<int, 4> lengths = {1, 1000, 40000, 400000};

template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int i = 0; i < threads; ++i) running.emplace_back(body, i);
  for (auto& each : running) each.join();
}

int right() { return (test::rank_of(MPI_COMM_WORLD) + 1) % test::size_of(MPI_COMM_WORLD); }
int left() {
  const int size = test::size_of(MPI_COMM_WORLD);
  return (test::rank_of(MPI_COMM_WORLD) + size - 1) % size;
}

/// Each thread of a rank with its fellow on the next one.
void messages(int thread) {
  for (int round = 0; round < rounds; ++round) {
    const int length = lengths[static_cast<std::size_t>(round) % lengths.size()];
    std::vector<int> out(static_cast<std::size_t>(length), round + thread);
    std::vector<int> in(out.size(), -1);
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(in.data(), length, MPI_INT, left(), thread, MPI_COMM_WORLD, requests.data());
    MPI_Isend(out.data(), length, MPI_INT, right(), thread, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    test::expect_equal(in.front() + in.back(), 2 * (round + thread), "message");
  }
}

/// What one thread writes and sends to its own process, another one receives: the same memory goes
/// round, and only messages say whose turn it is.
void memory_goes_round(std::vector<int>& memory, int thread) {
  const int self = test::rank_of(MPI_COMM_WORLD);
  const int from = (thread + threads - 1) % threads;
  for (int round = 0; round < rounds; ++round) {
    if (thread != 0 || round != 0) {
      MPI_Recv(nullptr, 0, MPI_INT, self, 100 + from, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int& element : memory) ++element;
    if (thread != threads - 1 || round != rounds - 1) {
      MPI_Send(nullptr, 0, MPI_INT, self, 100 + thread, MPI_COMM_WORLD);
    }
  }
}

void add(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *length; ++i) static_cast<long*>(inout)[i] += static_cast<long*>(in)[i];
}

/// Collective calls of all threads at the same time, each on a communicator of its own.
void collectives(MPI_Comm comm, int thread) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  const long size = test::size_of(comm);
  for (const int length : lengths) {
    std::vector<long> out(static_cast<std::size_t>(length), thread + 1);
    std::vector<long> in(out.size());
    MPI_Allreduce(out.data(), in.data(), length, MPI_LONG, MPI_SUM, comm);
    test::expect_equal(in.back(), size * (thread + 1), "sum");
    MPI_Reduce(out.data(), in.data(), length, MPI_LONG, op, 0, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iscan(out.data(), in.data(), length, MPI_LONG, op, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    test::expect_equal(in.back(), (test::rank_of(comm) + 1L) * (thread + 1), "scan");
    MPI_Bcast(in.data(), length, MPI_LONG, 0, comm);
    MPI_Barrier(comm);
  }
  MPI_Op_free(&op);
}

/// Objects are made and freed by all threads.
void objects(int thread) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(50, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    std::array<int, 100> out{};
    std::array<int, 50> in{};
    out[98] = thread;
    MPI_Sendrecv(out.data(), 1, type, right(), 200 + thread, in.data(), 50, MPI_INT, left(),
                 200 + thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    test::expect_equal(in[49], thread, "element of a vector");
    MPI_Type_free(&type);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_free(&info);
  }
}

/// Threads mark partitions that they have filled; threads read those that have arrived.
void partitions(int count) {
  std::vector<int> out(static_cast<std::size_t>(threads * count));
  std::vector<int> in(out.size());
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Psend_init(out.data(), threads, count, MPI_INT, right(), 300, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &send);
  MPI_Precv_init(in.data(), threads, count, MPI_INT, left(), 300, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &receive);
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&receive);
    MPI_Start(&send);
    in_threads([&](int thread) {
      const auto begin = static_cast<std::size_t>(thread * count);
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) out[begin + i] = round;
      MPI_Pready(thread, send);
      for (int there = 0; there == 0;) MPI_Parrived(receive, thread, &there);
      test::expect_equal(in[begin] + in[begin + static_cast<std::size_t>(count) - 1], 2 * round,
                         "partition");
    });
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

/// Two threads write to the same variable, and nothing orders them.
void race() {
  int shared = 0;
  std::thread other([&] { shared = 1; });
  shared = 2;
  other.join();
}

void everything() {
  std::vector<MPI_Comm> comms(threads);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<int> memory(5000);
  in_threads([&](int thread) {
    messages(thread);
    memory_goes_round(memory, thread);
    collectives(comms[static_cast<std::size_t>(thread)], thread);
    objects(thread);
  });
  test::expect_equal(memory.back(), threads * rounds, "turns");
  partitions(100);
  partitions(30000);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  test::expect_equal(provided, MPI_THREAD_MULTIPLE, "threads");
  if (argc > 1 && std::strcmp(argv[1], "race") == 0) {
    race();
  } else {
    everything();
  }
  return test::finish();
}
