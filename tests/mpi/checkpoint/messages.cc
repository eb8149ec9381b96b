// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2 3
// networks: tcp
//
// What is under way when networks are closed for a checkpoint goes on when they are open again: messages that
// wait for receives, short and long ones, receives that wait for messages, collective calls of which some
// ranks have made theirs, on two communicators, and several times in a row. Between the two calls the
// process has no socket and no memory of the job.
#include <mpi-ext.h>
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

constexpr int short_ints = 4;
constexpr int middle_ints = 3000;
constexpr int long_ints = 700'000;  // announced, and moved after its receive is posted

/// Open descriptors by kind; standard input, output and error are the launcher's.
struct Descriptors {
  int all = 0;
  int sockets = 0;
  int memory = 0;
};

Descriptors descriptors() {
  Descriptors found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || std::stoi(entry.path().filename()) <= 2) continue;
    ++found.all;
    found.sockets += target.starts_with("socket:") ? 1 : 0;
    found.memory += target.starts_with("/memfd:") ? 1 : 0;
  }
  return found;
}

int shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) {
    found += line.find("/memfd:") != std::string::npos ? 1 : 0;
  }
  return found;
}

void save_and_go_on() {
  expect_equal(MPIX_Checkpoint_quiesce(MPI_INFO_NULL), MPI_SUCCESS, "quiesce");
  const Descriptors now = descriptors();
  expect_equal(now.sockets, 0, "sockets");
  expect_equal(now.memory, 0, "memory files");
  expect_equal(shared_mappings(), 0, "mappings of memory files");
  expect_equal(MPIX_Checkpoint_resume(MPI_INFO_NULL), MPI_SUCCESS, "resume");
}

std::vector<int> numbers(int count, int from) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), from);
  return values;
}

void receive(MPI_Comm comm, int from, int tag, int count) {
  std::vector<int> got(static_cast<std::size_t>(count), -1);
  MPI_Status status;
  MPI_Recv(got.data(), count, MPI_INT, from, tag, comm, &status);
  int length = 0;
  MPI_Get_count(&status, MPI_INT, &length);
  expect_equal(length, count, "length");
  expect(got == numbers(count, 1000 * from + tag), "contents");
}

/// Sends of four kinds to the next rank, unmatched while the networks change; a receive of each side that
/// is posted before and matched after it.
void exchange_around(MPI_Comm comm) {
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  const std::vector<int> counts = {short_ints, middle_ints, long_ints, short_ints};
  std::vector<std::vector<int>> sent;
  for (int tag = 0; tag < 4; ++tag) {
    sent.push_back(numbers(counts[static_cast<std::size_t>(tag)], 1000 * rank + tag));
  }
  std::vector<MPI_Request> requests(4);
  for (int tag = 0; tag < 4; ++tag) {
    auto& data = sent[static_cast<std::size_t>(tag)];
    const auto start = tag == 3 ? MPI_Issend : MPI_Isend;
    start(data.data(), static_cast<int>(data.size()), MPI_INT, next, tag, comm,
          &requests[static_cast<std::size_t>(tag)]);
  }
  int early = -1;
  MPI_Request posted = MPI_REQUEST_NULL;
  MPI_Irecv(&early, 1, MPI_INT, previous, 9, comm, &posted);
  save_and_go_on();
  int done = 1;
  MPI_Test(&posted, &done, MPI_STATUS_IGNORE);
  expect_equal(done, 0, "the receive still waits");
  for (int tag : {2, 0, 3, 1}) {
    receive(comm, previous, tag, counts[static_cast<std::size_t>(tag)]);
  }
  MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
  MPI_Send(&rank, 1, MPI_INT, next, 9, comm);
  MPI_Wait(&posted, MPI_STATUS_IGNORE);
  expect_equal(early, previous, "the message of the early receive");
}

/// The collective calls of a communicator go on where they were, also one that a rank has begun alone.
void collectives_around(MPI_Comm comm) {
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  int sum = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Iallreduce(&size, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  save_and_go_on();
  if (rank != 0) MPI_Iallreduce(&size, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(sum, size * size, "the collective call around the checkpoint");
  std::vector<int> all = rank == 0 ? numbers(long_ints, 5) : std::vector<int>(long_ints);
  MPI_Bcast(all.data(), long_ints, MPI_INT, 0, comm);
  expect(all == numbers(long_ints, 5), "a long broadcast after it");
}

/// Memory that a window has shared becomes this process's own, where it is, and later windows use messages.
void memory_around() {
  constexpr int count = 100'000;
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int next = (rank + 1) % test::size_of(MPI_COMM_WORLD);
  int* memory = nullptr;
  MPI_Alloc_mem(count * sizeof(int), MPI_INFO_NULL, static_cast<void*>(&memory));
  std::fill(memory, memory + count, rank);
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_create(memory, count * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    int got = -1;
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_INT, next, count - 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    expect_equal(got, next, "what the window shows");
    MPI_Win_free(&win);
    save_and_go_on();
    expect(std::all_of(memory, memory + count, [rank](int each) { return each == rank; }),
           "the memory");
  }
  MPI_Free_mem(memory);
}

/// Of this process once all have connections with each other. Two that call each other at once have one too many for a moment,
/// so it is waited, in MPI, until there are no more than `most`.
int descriptors_at_rest(MPI_Comm comm, int most) {
  MPI_Barrier(comm);
  const double end = MPI_Wtime() + 10;
  while (descriptors().all > most && MPI_Wtime() < end) {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
  }
  const int count = descriptors().all;
  MPI_Barrier(comm);
  return count;
}

void repeat(MPI_Comm comm, int rounds) {
  int before = 0;
  for (int round = 0; round < rounds; ++round) {
    const int rank = test::rank_of(comm);
    const int size = test::size_of(comm);
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&round, 1, MPI_INT, next, round, comm, &request);
    save_and_go_on();
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, previous, round, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_equal(got, round, "the round");
    if (round == 1) before = descriptors_at_rest(comm, INT_MAX);
  }
  expect(descriptors_at_rest(comm, before) <= before, "no more descriptors after many checkpoints");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  save_and_go_on();  // before the first message
  save_and_go_on();
  MPI_Comm twin = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  exchange_around(MPI_COMM_WORLD);
  exchange_around(twin);
  collectives_around(MPI_COMM_WORLD);
  collectives_around(twin);
  memory_around();
  repeat(twin, argc > 1 ? std::atoi(argv[1]) : 50);
  MPI_Comm_free(&twin);
  return test::finish();
}
