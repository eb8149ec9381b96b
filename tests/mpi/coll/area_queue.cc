// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Non-blocking collective calls among ranks of one node: more under way than the memory of the node has room for, while
// other ranks have not come yet; followed by blocking ones; in many pieces; on several communicators. MPI 5.0
// section 6.12.
// ranks: 2 3 5
// env: FULMAR_COLL=auto

#include <mpi.h>

#include <array>
#include <vector>

#include "support/collectives.h"

namespace {

using test::Collective;
using test::expect;
using test::expect_equal;
using test::Kind;
using test::mark;

constexpr int many = 150;  // more than a collective area has slots
constexpr int token = 5;

using Words = std::vector<std::uint32_t>;

Words words(int rank, int count, int round) {
  Words data(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) data[static_cast<std::size_t>(i)] = mark(rank, i, round);
  return data;
}

void tell(int rank) { MPI_Send(nullptr, 0, MPI_BYTE, rank, token, MPI_COMM_WORLD); }
void hear(int rank) {
  MPI_Recv(nullptr, 0, MPI_BYTE, rank, token, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// The root has made all its calls before any other rank makes its first one.
void bcasts_before_the_others(int count) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  std::vector<Words> data;
  std::array<MPI_Request, many> requests{};
  for (int i = 0; i < many; ++i) data.push_back(words(rank == 0 ? 0 : 77, count, i));
  if (rank != 0) hear(0);
  for (std::size_t i = 0; i < many; ++i) {
    MPI_Ibcast(data[i].data(), count, MPI_UINT32_T, 0, MPI_COMM_WORLD, &requests[i]);
  }
  for (int other = 1; other < size && rank == 0; ++other) tell(other);
  MPI_Waitall(many, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < many; ++i) {
    expect(data[static_cast<std::size_t>(i)] == words(0, count, i), "MPI_Ibcast before the others");
  }
}

/// All others have made their calls before the root makes its first one.
void gathers_before_the_root(int count) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const auto elements = static_cast<std::size_t>(count);
  std::vector<Words> from;
  std::vector<Words> to(many, Words(rank == 0 ? elements * static_cast<std::size_t>(size) : 0));
  std::array<MPI_Request, many> requests{};
  for (int i = 0; i < many; ++i) from.push_back(words(rank, count, i));
  for (int other = 1; other < size && rank == 0; ++other) hear(other);
  for (std::size_t i = 0; i < many; ++i) {
    MPI_Igather(from[i].data(), count, MPI_UINT32_T, to[i].data(), count, MPI_UINT32_T, 0,
                MPI_COMM_WORLD, &requests[i]);
  }
  if (rank != 0) tell(0);
  MPI_Waitall(many, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < many && rank == 0; ++i) {
    Words expected;
    for (int r = 0; r < size; ++r) {
      const Words part = words(r, count, i);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    expect(to[static_cast<std::size_t>(i)] == expected, "MPI_Igather before the root");
  }
}

/// A blocking call while non-blocking ones that were made before it have not ended.
void blocking_behind_pending() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const bool late = rank == size - 1;
  if (late) hear(0);
  std::array<MPI_Request, 3> requests{};
  Words data = words(late ? rank : 77, 9000, 3);
  const int one = 1;
  int sum = 0;
  MPI_Ibcast(data.data(), 9000, MPI_UINT32_T, size - 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
  if (rank == 0) tell(size - 1);
  int product = 0;
  const int two = 2;
  MPI_Allreduce(&two, &product, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
  expect_equal(product, 1 << size, "MPI_Allreduce behind pending calls");
  // They are over, in order, so the data are there without another look.
  expect_equal(sum, size, "MPI_Iallreduce before a blocking call");
  expect(data == words(size - 1, 9000, 3), "MPI_Ibcast before a blocking call");
  MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
}

/// Ranks wait for the calls of two communicators in another order.
void two_communicators() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  std::array<MPI_Comm, 2> comms{};
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::array<MPI_Request, 2> requests{};
  std::array<int, 2> sums{};
  for (int round = 0; round < 50; ++round) {
    const int own = rank + round;
    const std::size_t first = static_cast<std::size_t>(rank + round) % 2;
    for (const std::size_t i : {first, 1 - first}) {
      MPI_Iallreduce(&own, &sums[i], 1, MPI_INT, MPI_SUM, comms[i], &requests[i]);
    }
    MPI_Wait(&requests[1 - first], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[first], MPI_STATUS_IGNORE);
    for (const int sum : sums) {
      expect_equal(sum, size * (size - 1) / 2 + size * round,
                   "MPI_Iallreduce on two communicators");
    }
  }
  // What is freed goes when its calls are over.
  for (std::size_t i : {0U, 1U}) MPI_Ibarrier(comms[i], &requests[i]);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}

/// More than a payload holds, of every kind, two at a time.
void many_pieces() {
  const test::Shapes shapes;
  const int size = test::size_of(MPI_COMM_WORLD);
  for (const int kind : {static_cast<int>(Kind::bcast), static_cast<int>(Kind::gather),
                         static_cast<int>(Kind::scatter), static_cast<int>(Kind::allgather),
                         static_cast<int>(Kind::allgatherv), static_cast<int>(Kind::alltoall),
                         static_cast<int>(Kind::reduce), static_cast<int>(Kind::allreduce),
                         static_cast<int>(Kind::reduce_scatter), static_cast<int>(Kind::scan),
                         static_cast<int>(Kind::exscan)}) {
    for (int shape = 0; shape < test::Shapes::count; ++shape) {
      Collective one(static_cast<Kind>(kind), MPI_COMM_WORLD, shapes.at(shape), 120000, size - 1,
                     false);
      Collective two(static_cast<Kind>(kind), MPI_COMM_WORLD, shapes.at(shape), 120000, 0, true);
      one.fill(kind);
      two.fill(kind + 100);
      one.call(Collective::Form::nonblocking);
      two.call(Collective::Form::nonblocking);
      std::array<MPI_Request, 2> requests = {two.request, one.request};
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
      one.check();
      two.check();
    }
  }
}

/// The forms in which ranks know their own lengths only, from nothing to more than a payload holds.
void various_lengths() {
  const test::Shapes shapes;
  int seed = 0;
  for (const Kind kind : {Kind::gatherv, Kind::scatterv, Kind::alltoallv, Kind::alltoallw}) {
    for (const int count : {0, 1, 2, 11, 13, 300, 17000, 120000}) {
      for (const bool in_place : {false, true}) {
        for (const auto form : {Collective::Form::blocking, Collective::Form::nonblocking}) {
          const int root = ++seed % test::size_of(MPI_COMM_WORLD);
          Collective one(kind, MPI_COMM_WORLD, shapes.at(seed % test::Shapes::count), count, root,
                         in_place);
          one.fill(seed);
          one.call(form);
          if (form == Collective::Form::nonblocking) MPI_Wait(&one.request, MPI_STATUS_IGNORE);
          one.check();
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const int count : {2, 200, 3000, 20000}) {
    bcasts_before_the_others(count);
    gathers_before_the_root(count);
  }
  for (int round = 0; round < 20; ++round) blocking_behind_pending();
  two_communicators();
  many_pieces();
  various_lengths();
  return test::finish();
}
