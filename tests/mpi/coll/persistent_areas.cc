// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Persistent collective calls among ranks of one node: without messages, started in an order of each rank's own, far
// more of them than the memory of the node has room for, given back with their requests; ranks whose arguments are
// wrong. MPI 5.0 section 6.13.
// ranks: 2 3 5
// env: FULMAR_COLL=auto

#include <mpi.h>

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <random>
#include <vector>

#include "support/collectives.h"
#include "support/packets.h"

namespace {

using test::Collective;
using test::expect_class;
using test::expect_equal;
using test::Kind;
using test::PacketCounter;
using Form = Collective::Form;

constexpr int kinds = static_cast<int>(Kind::count);

void run_once(Collective& call, int seed) {
  call.fill(seed);
  MPI_Start(&call.request);
  MPI_Wait(&call.request, MPI_STATUS_IGNORE);
  call.check();
}

bool has_various_lengths(Kind kind) {
  return kind == Kind::gatherv || kind == Kind::scatterv || kind == Kind::alltoallv ||
         kind == Kind::alltoallw;
}

/// No packet is sent, whatever the operation; the lengths are those of one payload without and
/// with a staging buffer, and of many. Very long blocks of v-forms are messages.
void no_messages(const test::Shapes& shapes, const PacketCounter& packets) {
  for (const int count : {0, 5, 1500, 40'000}) {
    for (int i = 0; i < kinds; ++i) {
      const auto kind = static_cast<Kind>(i);
      if (count > 1500 && has_various_lengths(kind)) continue;
      Collective call(kind, MPI_COMM_WORLD, shapes.at(i % 3), count, 1, i % 2 == 0);
      expect_equal(call.call(Form::persistent), MPI_SUCCESS, call.name());
      const long long before = packets.value();
      for (int round = 0; round < (count > 1500 ? 3 : 20); ++round) run_once(call, round);
      expect_equal(packets.value(), before, call.name());
      MPI_Request_free(&call.request);
    }
  }
}

/// Starts all in an order of this rank's own, and completes them in another.
void start_all(std::deque<Collective>& all, int round) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(round * 64 + rank)));
  for (const std::size_t i : order) {
    all[i].fill(round * 1000 + static_cast<int>(i));
    MPI_Start(&all[i].request);
  }
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(round + 99 * rank)));
  for (const std::size_t i : order) {
    MPI_Wait(&all[i].request, MPI_STATUS_IGNORE);
    all[i].check();
  }
}

/// More requests at a time than there is memory for. Some are freed, and others made, while the
/// rest live.
void many_requests(const test::Shapes& shapes) {
  std::deque<Collective> all;
  const auto make_another = [&](int i) {
    const int count = i % 3 == 0 ? 3000 : i % 40;
    all.emplace_back(static_cast<Kind>(i % kinds), MPI_COMM_WORLD, shapes.at(i % 3), count,
                     i % test::size_of(MPI_COMM_WORLD), i % 2 == 0);
    expect_equal(all.back().call(Form::persistent), MPI_SUCCESS, all.back().name());
  };
  for (int i = 0; i < 80; ++i) make_another(i);
  for (int round = 0; round < 3; ++round) {
    start_all(all, round);
    for (int i = 0; i < 20; ++i) {
      MPI_Request_free(&all.front().request);
      all.pop_front();
      make_another(100 * round + 3 * i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  start_all(all, 9);
  for (Collective& call : all) MPI_Request_free(&call.request);
}

/// The area of a request ends with it; also where its communicator was freed before.
void areas_come_back(const test::Shapes& shapes, const PacketCounter& packets) {
  for (int i = 0; i < 200; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    Collective call(Kind::allgather, comm, shapes.at(0), 2000, 0, false);
    call.call(Form::persistent);
    MPI_Comm_free(&comm);
    const long long before = packets.value();
    run_once(call, i);
    expect_equal(packets.value(), before, "the request has an area");
    MPI_Request_free(&call.request);
  }
}

/// One rank does not wait for the others, and is many rounds ahead.
void many_starts(const test::Shapes& shapes) {
  for (const Kind kind : {Kind::bcast, Kind::reduce, Kind::scatterv, Kind::gather}) {
    Collective call(kind, MPI_COMM_WORLD, shapes.at(1), 9, 0, false);
    call.call(Form::persistent);
    for (int round = 0; round < 1000; ++round) run_once(call, round);
    MPI_Request_free(&call.request);
  }
}

/// All others have made their calls of two requests in another order.
void waits_for_late_ranks() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  int value = 0;
  std::array<MPI_Request, 2> barriers{};
  for (MPI_Request& request : barriers) MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&barriers[rank == 0 ? 1 : 0]);
  int flag = 1;
  MPI_Test(&barriers[rank == 0 ? 1 : 0], &flag, MPI_STATUS_IGNORE);
  expect_equal(flag, 0, "a barrier that not all have started");
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);  // passes those that wait
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Start(&barriers[rank == 0 ? 0 : 1]);
  MPI_Waitall(2, barriers.data(), MPI_STATUSES_IGNORE);
  for (MPI_Request& request : barriers) MPI_Request_free(&request);
}

/// A rank whose arguments are refused takes part in the agreement on the area: the calls that
/// follow are in step.
void refused_arguments(const test::Shapes& shapes) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const bool wrong = test::rank_of(comm) == 1;
  const auto size = static_cast<std::size_t>(test::size_of(comm));
  std::vector<int> from(size);
  std::vector<int> to(size);
  std::array<MPI_Request, 2> requests{};
  requests.fill(MPI_REQUEST_NULL);
  const MPI_Info none = MPI_INFO_NULL;
  // Refused before the call, and by the call.
  const int count =
      MPI_Bcast_init(from.data(), wrong ? -1 : 1, MPI_INT, 0, comm, none, requests.data());
  const int same = MPI_Allreduce_init(from.data(), wrong ? from.data() : to.data(), 1, MPI_INT,
                                      MPI_SUM, comm, none, &requests[1]);
  expect_class(count, wrong ? MPI_ERR_COUNT : MPI_SUCCESS, "the count");
  expect_class(same, wrong ? MPI_ERR_BUFFER : MPI_SUCCESS, "the same buffer twice");
  for (MPI_Request& request : requests) {
    expect_equal(request == MPI_REQUEST_NULL, wrong, "the request");
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  for (int i = 0; i < 3; ++i) {
    Collective call(Kind::alltoall, comm, shapes.at(0), 30, 0, false);
    expect_equal(call.call(Form::persistent), MPI_SUCCESS, "another request");
    run_once(call, i);
    MPI_Request_free(&call.request);
    MPI_Barrier(comm);
  }
  MPI_Comm_free(&comm);
}

/// Calls of neighbours do not take part in agreements, whether their arguments are right or not.
void refused_neighbours() {
  MPI_Comm ring = MPI_COMM_NULL;
  int size = test::size_of(MPI_COMM_WORLD);
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  const bool wrong = test::rank_of(ring) == 0;
  const int own = test::rank_of(ring);
  std::array<int, 2> around{};
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Neighbor_allgather_init(&own, wrong ? -1 : 1, MPI_INT, around.data(), 1,
                                               MPI_INT, ring, MPI_INFO_NULL, &request);
  expect_class(code, wrong ? MPI_ERR_COUNT : MPI_SUCCESS, "the count");
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  int sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, ring);
  expect_equal(sum, size * (size - 1) / 2, "the next call");
  MPI_Comm_free(&ring);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int level = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  {
    const test::Shapes shapes;
    const PacketCounter packets;
    no_messages(shapes, packets);
    many_requests(shapes);
    areas_come_back(shapes, packets);
    many_starts(shapes);
    waits_for_late_ranks();
    refused_arguments(shapes);
    refused_neighbours();
  }
  MPI_T_finalize();
  return test::finish();
}
