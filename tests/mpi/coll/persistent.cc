// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Persistent collective calls of all kinds, started again and again, in another order by each rank,
// among non-blocking ones. MPI 5.0 section 6.13.
// ranks: 1 2 3 4 5

#include <mpi.h>

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <vector>

#include "support/collectives.h"

namespace {

using test::Collective;
using test::expect;
using test::expect_class;
using test::expect_equal;
using test::Kind;

std::deque<Collective> make_all(test::Shared& random, const std::vector<MPI_Comm>& comms,
                                const test::Shapes& shapes, int how_many) {
  std::deque<Collective> made;
  for (int i = 0; i < how_many; ++i) {
    const MPI_Comm comm =
        comms[static_cast<std::size_t>(random.below(static_cast<int>(comms.size())))];
    const auto kind = static_cast<Kind>(i % static_cast<int>(Kind::count));
    const test::Shape shape = shapes.at(random.below(test::Shapes::count));
    const int count = random.below(4) == 0 ? random.below(4000) : random.below(20);
    made.emplace_back(kind, comm, shape, count, random.below(test::size_of(comm)), random.coin());
    expect_equal(made.back().call(Collective::Form::persistent), MPI_SUCCESS, made.back().name());
  }
  return made;
}

/// One round: all are started, in an order of this rank's own, half of them by MPI_Startall.
void round_of(std::deque<Collective>& all, MPI_Comm comm, int round) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(round * 100 + rank)));
  std::vector<MPI_Request> later;
  MPI_Request barrier = MPI_REQUEST_NULL;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Collective& one = all[order[i]];
    one.fill(round * 1000 + static_cast<int>(order[i]));
    if (i % 2 == 0) {
      MPI_Start(&one.request);
    } else {
      later.push_back(one.request);
    }
  }
  MPI_Ibarrier(comm, &barrier);
  MPI_Startall(static_cast<int>(later.size()), later.data());
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(round + 7 * rank)));
  for (const std::size_t i : order) {
    MPI_Request& request = all[i].request;
    if (round % 2 == 0) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      int flag = 0;
      while (flag == 0) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    expect(request != MPI_REQUEST_NULL, "a persistent request stays");
    all[i].check();
  }
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}

void rounds(test::Shared& random) {
  const test::Shapes shapes;
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  std::deque<Collective> all = make_all(random, {MPI_COMM_WORLD, dup}, shapes, 51);
  for (int round = 0; round < 8; ++round) round_of(all, dup, round);
  for (Collective& one : all) {
    MPI_Request_free(&one.request);
    expect(one.request == MPI_REQUEST_NULL, "MPI_Request_free");
  }
  MPI_Comm_free(&dup);
}

/// A fast rank is a round ahead; rounds of one request do not mix.
void rounds_do_not_mix() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Bcast_init(&value, 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < 200; ++round) {
    value = rank == size - 1 ? round : -1;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_equal(value, round, "MPI_Bcast_init, round");
  }
  MPI_Request_free(&request);
}

void wrong_use() {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int value = 1;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &request);
  MPI_Wait(&request, &status);  // inactive: returns at once
  expect_equal(status.MPI_SOURCE, MPI_ANY_SOURCE, "the empty status of an inactive request");
  expect_equal(sum, 0, "not started");
  expect_class(MPI_Cancel(&request), MPI_ERR_REQUEST, "MPI_Cancel of an inactive request");
  MPI_Start(&request);
  expect_class(MPI_Start(&request), MPI_ERR_REQUEST, "MPI_Start of an active request");
  expect_class(MPI_Request_free(&request), MPI_ERR_REQUEST,
               "MPI_Request_free of an active request");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(sum, 1, "MPI_Allreduce_init");
  MPI_Request_free(&request);
  expect_class(MPI_Bcast_init(&value, 1, MPI_INT, 9, MPI_COMM_SELF, MPI_INFO_NULL, &request),
               MPI_ERR_ROOT, "root");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/// Types, operations and communicators freed after the request was made.
void handles_freed_early() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int size = test::size_of(comm);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_INT, &type);
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  const int own = test::rank_of(comm);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allgather_init(&own, 1, type, all.data(), 1, type, comm, MPI_INFO_NULL, &request);
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
  for (int round = 0; round < 3; ++round) {
    std::fill(all.begin(), all.end(), -1);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < size; ++r) {
      expect_equal(all[static_cast<std::size_t>(r)], r, "MPI_Allgather_init with freed handles");
    }
  }
  MPI_Request_free(&request);
}

/// Arrays of counts and displacements changed after the request was made. The standard does not
/// allow it, but other libraries read them then, and programs rely on it.
void arrays_changed_early() {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int size = test::size_of(comm);
  const auto n = static_cast<std::size_t>(size);
  const int rank = test::rank_of(comm);
  std::vector<int> counts(n, 1);
  std::vector<int> places(n);
  std::iota(places.rbegin(), places.rend(), 0);  // block r is at size - 1 - r
  std::vector<MPI_Datatype> types(n, MPI_INT);
  std::vector<int> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = places[i] * static_cast<int>(sizeof(int));
  std::vector<int> from(n);
  std::vector<std::vector<int>> got(6, std::vector<int>(n, -1));
  std::array<MPI_Request, 6> requests{};
  const MPI_Info none = MPI_INFO_NULL;
  MPI_Gatherv_init(&rank, 1, MPI_INT, got[0].data(), counts.data(), places.data(), MPI_INT, 0, comm,
                   none, requests.data());
  MPI_Scatterv_init(from.data(), counts.data(), places.data(), MPI_INT, got[1].data(), 1, MPI_INT,
                    size - 1, comm, none, &requests[1]);
  MPI_Allgatherv_init(&rank, 1, MPI_INT, got[2].data(), counts.data(), places.data(), MPI_INT, comm,
                      none, &requests[2]);
  MPI_Alltoallv_init(from.data(), counts.data(), places.data(), MPI_INT, got[3].data(),
                     counts.data(), places.data(), MPI_INT, comm, none, &requests[3]);
  MPI_Alltoallw_init(from.data(), counts.data(), bytes.data(), types.data(), got[4].data(),
                     counts.data(), bytes.data(), types.data(), comm, none, &requests[4]);
  MPI_Reduce_scatter_init(from.data(), got[5].data(), counts.data(), MPI_INT, MPI_SUM, comm, none,
                          &requests[5]);
  for (std::vector<int>* array : {&counts, &places, &bytes}) {
    std::fill(array->begin(), array->end(), 1 << 30);
  }
  std::fill(types.begin(), types.end(), MPI_DATATYPE_NULL);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < size; ++i) from[static_cast<std::size_t>(i)] = 100 * rank + i + round;
    MPI_Startall(6, requests.data());
    MPI_Waitall(6, requests.data(), MPI_STATUSES_IGNORE);
    for (int r = 0; r < size; ++r) {
      const auto at = static_cast<std::size_t>(size - 1 - r);
      if (rank == 0) expect_equal(got[0][at], r, "MPI_Gatherv_init");
      expect_equal(got[2][at], r, "MPI_Allgatherv_init");
      expect_equal(got[3][at], 100 * r + size - 1 - rank + round, "MPI_Alltoallv_init");
      expect_equal(got[4][at], 100 * r + size - 1 - rank + round, "MPI_Alltoallw_init");
    }
    expect_equal(got[1][0], 100 * (size - 1) + size - 1 - rank + round, "MPI_Scatterv_init");
    expect_equal(got[5][0], 50 * size * (size - 1) + size * (rank + round),
                 "MPI_Reduce_scatter_init");
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    test::Shared random(argc, argv);
    rounds(random);
    rounds_do_not_mix();
    wrong_use();
    handles_freed_early();
    arrays_changed_early();
  }
  return test::finish();
}
