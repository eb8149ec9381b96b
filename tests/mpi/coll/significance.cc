// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Arguments that have no meaning in some ranks or calls. The receive buffer of MPI_Exscan in rank 0
// may be anything, and stays as it is (MPI 5.0 section 6.11.2). In the w-forms so may be the
// datatypes of blocks without elements.
// ranks: 1 2 3

#include <mpi.h>

#include <array>
#include <vector>

#include "support/check.h"

namespace {

using test::expect_class;
using test::expect_equal;

constexpr int untouched = -77;

/// The three kinds of calls, each to its end.
template <class Check>
void exscan_in_all_ways(const void* send, int* receive, const Check& check) {
  expect_class(MPI_Exscan(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS,
               "MPI_Exscan");
  check("MPI_Exscan");
  MPI_Request request = MPI_REQUEST_NULL;
  expect_class(MPI_Iexscan(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
               MPI_SUCCESS, "MPI_Iexscan");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("MPI_Iexscan");
  expect_class(
      MPI_Exscan_init(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
      MPI_SUCCESS, "MPI_Exscan_init");
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  check("MPI_Exscan_init");
}

void exscan_to_nowhere(int rank) {
  const int own = rank + 1;
  int sum = untouched;
  exscan_in_all_ways(&own, rank == 0 ? nullptr : &sum, [&](const char* call) {
    if (rank > 0) expect_equal(sum, rank * (rank + 1) / 2, call);
    sum = untouched;
  });
  exscan_in_all_ways(&own, &sum, [&](const char* call) {
    expect_equal(sum, rank > 0 ? rank * (rank + 1) / 2 : untouched, call);
    sum = untouched;
  });
}

/// In place the receive buffer is the input also in rank 0.
void exscan_in_place(int rank) {
  int value = rank + 1;
  MPI_Exscan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect_equal(value, rank > 0 ? rank * (rank + 1) / 2 : 1, "MPI_Exscan in place");
  const int code = MPI_Exscan(MPI_IN_PLACE, nullptr, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  expect_class(code, MPI_ERR_BUFFER, "in place at no address");
}

/// What MPI_Alltoallw gets: one word to the next rank, nothing to others.
struct Ring {
  int rank = test::rank_of(MPI_COMM_WORLD);
  int size = test::size_of(MPI_COMM_WORLD);
  int out = rank;
  int in = untouched;
  std::vector<int> send_counts = std::vector<int>(static_cast<std::size_t>(size), 0);
  std::vector<int> receive_counts = send_counts;
  std::vector<int> displs = send_counts;
  std::vector<MPI_Datatype> send_types =
      std::vector<MPI_Datatype>(static_cast<std::size_t>(size), MPI_DATATYPE_NULL);
  std::vector<MPI_Datatype> receive_types = send_types;

  /// `unused` stands for the types that have no meaning.
  explicit Ring(MPI_Datatype unused) {
    for (auto& type : send_types) type = unused;
    receive_types = send_types;
    const auto next = static_cast<std::size_t>((rank + 1) % size);
    const auto previous = static_cast<std::size_t>((rank + size - 1) % size);
    send_counts[next] = 1;
    send_types[next] = MPI_INT;
    receive_counts[previous] = 1;
    receive_types[previous] = MPI_INT;
  }
  void check(const char* call) {
    expect_equal(in, (rank + size - 1) % size, call);
    in = untouched;
  }
};

void unused_types(MPI_Datatype unused) {
  Ring ring(unused);
  MPI_Comm comm = MPI_COMM_WORLD;
  expect_class(MPI_Alltoallw(&ring.out, ring.send_counts.data(), ring.displs.data(),
                             ring.send_types.data(), &ring.in, ring.receive_counts.data(),
                             ring.displs.data(), ring.receive_types.data(), comm),
               MPI_SUCCESS, "MPI_Alltoallw");
  ring.check("MPI_Alltoallw");
  MPI_Request request = MPI_REQUEST_NULL;
  expect_class(MPI_Ialltoallw(&ring.out, ring.send_counts.data(), ring.displs.data(),
                              ring.send_types.data(), &ring.in, ring.receive_counts.data(),
                              ring.displs.data(), ring.receive_types.data(), comm, &request),
               MPI_SUCCESS, "MPI_Ialltoallw");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  ring.check("MPI_Ialltoallw");
  const auto next = static_cast<std::size_t>((ring.rank + 1) % ring.size);
  ring.send_types[next] = unused;
  expect_class(MPI_Alltoallw(&ring.out, ring.send_counts.data(), ring.displs.data(),
                             ring.send_types.data(), &ring.in, ring.receive_counts.data(),
                             ring.displs.data(), ring.receive_types.data(), comm),
               MPI_ERR_TYPE, "a type that is needed");
}

/// Neighbours above and below in a periodic grid; only the one above is sent to.
void unused_types_of_neighbours(MPI_Datatype unused) {
  const int size = test::size_of(MPI_COMM_WORLD);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int periodic = 1;
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &grid);
  const std::array<int, 2> up = {0, 1};
  const std::array<int, 2> down = {1, 0};
  const std::array<MPI_Aint, 2> displs = {0, 0};
  const std::array<MPI_Datatype, 2> up_types = {unused, MPI_INT};
  const std::array<MPI_Datatype, 2> down_types = {MPI_INT, unused};
  int in = untouched;
  expect_class(MPI_Neighbor_alltoallw(&rank, up.data(), displs.data(), up_types.data(), &in,
                                      down.data(), displs.data(), down_types.data(), grid),
               MPI_SUCCESS, "MPI_Neighbor_alltoallw");
  expect_equal(in, (rank + size - 1) % size, "MPI_Neighbor_alltoallw");
  MPI_Comm_free(&grid);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  exscan_to_nowhere(rank);
  exscan_in_place(rank);
  MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  for (const MPI_Datatype unused : {MPI_DATATYPE_NULL, uncommitted}) {
    unused_types(unused);
    unused_types_of_neighbours(unused);
  }
  MPI_Type_free(&uncommitted);
  return test::finish();
}
