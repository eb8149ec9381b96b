// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// With FULMAR_CHECK=collectives a collective call that does not fit those of the other ranks ends
// in all of them with an error that says which rank called what, and the communicator stays usable.
//
// ranks: 1 2 3
// env: FULMAR_CHECK=collectives
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "../support/check.h"

namespace {

int rank = 0;
int size = 1;
int last() { return size - 1; }
int before_last() { return (size + last() - 1) % size; }

/// The error says so, in all ranks.
void says(int code, int error_class, const std::string& wanted) {
  test::expect_class(code, error_class, wanted.c_str());
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  const bool said = std::string(text).find(wanted) != std::string::npos;
  test::expect(said, "text of the mismatch");
  if (!said) std::fprintf(stderr, "  got: %s\n  expected: %s\n", text, wanted.c_str());
}

/// The last rank called something else than the first.
void differs(int code, int error_class, const std::string& last_call, const std::string& call) {
  if (size == 1) return;
  says(code, error_class,
       "rank " + std::to_string(last()) + " called " + last_call + " where rank 0 called " + call);
}

/// Calls that fit go through, whatever they are.
void right_calls() {
  int value = rank;
  int sum = 0;
  std::vector<int> all(static_cast<std::size_t>(size));
  std::vector<int> counts(static_cast<std::size_t>(size), 0);
  std::vector<int> displs(static_cast<std::size_t>(size), 0);
  counts[0] = 1;
  test::expect_class(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS, "barrier");
  test::expect_class(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS,
                     "allreduce");
  test::expect_equal(sum, size * (size - 1) / 2, "sum");
  test::expect_class(MPI_Gather(rank == 0 ? MPI_IN_PLACE : &value, 1, MPI_INT, all.data(), 1,
                                MPI_INT, 0, MPI_COMM_WORLD),
                     MPI_SUCCESS, "gather");
  test::expect_class(MPI_Allgatherv(&value, rank == 0 ? 1 : 0, MPI_INT, all.data(), counts.data(),
                                    displs.data(), MPI_INT, MPI_COMM_WORLD),
                     MPI_SUCCESS, "allgatherv");
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  int two[2] = {rank, rank};
  test::expect_class(rank == 0 ? MPI_Bcast(two, 1, pair, 0, MPI_COMM_WORLD)
                               : MPI_Bcast(two, 2, MPI_INT, 0, MPI_COMM_WORLD),
                     MPI_SUCCESS, "the same signature by another type");
  test::expect_equal(two[1], 0, "value");
  MPI_Type_free(&pair);
}

void wrong_calls() {
  int data[4] = {};
  int out[4] = {};
  const bool odd = rank == last();
  differs(odd ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Bcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD),
          MPI_ERR_OTHER, "MPI_Barrier()", "MPI_Bcast(root 0, 4 MPI_INT)");
  differs(MPI_Bcast(data, 4, MPI_INT, odd ? last() : 0, MPI_COMM_WORLD), MPI_ERR_ROOT,
          "MPI_Bcast(root " + std::to_string(last()) + ", 4 MPI_INT)",
          "MPI_Bcast(root 0, 4 MPI_INT)");
  differs(MPI_Bcast(data, odd ? 3 : 4, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT,
          "MPI_Bcast(root 0, 3 MPI_INT)", "MPI_Bcast(root 0, 4 MPI_INT)");
  differs(MPI_Bcast(data, 4, odd ? MPI_FLOAT : MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_TYPE,
          "MPI_Bcast(root 0, 4 MPI_FLOAT)", "MPI_Bcast(root 0, 4 MPI_INT)");
  differs(MPI_Reduce(data, out, 4, MPI_INT, odd ? MPI_MAX : MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_OP,
          "MPI_Reduce(root 0, 4 MPI_INT, MPI_MAX)", "MPI_Reduce(root 0, 4 MPI_INT, MPI_SUM)");
  differs(MPI_Allreduce(data, out, odd ? 1 : 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT,
          "MPI_Allreduce(1 MPI_INT, MPI_SUM)", "MPI_Allreduce(2 MPI_INT, MPI_SUM)");
}

/// All give as much, but one expects another amount.
void other_side() {
  const std::string name = std::to_string(last());
  const bool odd = rank == last();
  const int data[4] = {};
  std::vector<int> out(static_cast<std::size_t>(4 * size));
  says(MPI_Allgather(data, 2, MPI_INT, out.data(), odd ? 1 : 2, MPI_INT, MPI_COMM_WORLD),
       MPI_ERR_COUNT,
       "rank " + name +
           " called MPI_Allgather(2 MPI_INT, 1 MPI_INT) and gives another amount than it expects");
  says(MPI_Gather(data, 2, MPI_INT, out.data(), 4, MPI_INT, last(), MPI_COMM_WORLD), MPI_ERR_COUNT,
       "rank " + name + " called MPI_Gather(root " + name +
           ", 2 MPI_INT, 4 MPI_INT) and gives another amount than it expects");
  says(MPI_Gather(data, 2, MPI_INT, out.data(), 2, MPI_FLOAT, last(), MPI_COMM_WORLD), MPI_ERR_TYPE,
       "rank " + name + " called MPI_Gather(root " + name +
           ", 2 MPI_INT, 2 MPI_FLOAT) and gives another type than it expects");
}

/// The same elements by other names: pairs are their parts, packed data may be anything.
void the_same_by_another_type() {
  const bool odd = rank == last();
  std::vector<int> counts(static_cast<std::size_t>(size), 2);
  std::vector<int> displs;
  for (int i = 0; i < size; ++i) displs.push_back(4 * i);
  std::vector<long long> room(static_cast<std::size_t>(8 * size));
  const auto gather = [&](int count, MPI_Datatype type, int each, MPI_Datatype theirs) {
    std::fill(counts.begin(), counts.end(), each);
    const long long own[8] = {};
    return MPI_Gatherv(own, count, type, room.data(), counts.data(), displs.data(), theirs, 0,
                       MPI_COMM_WORLD);
  };
  test::expect_class(gather(odd ? 1 : 2, odd ? MPI_2INT : MPI_INT, 2, MPI_INT), MPI_SUCCESS,
                     "a pair for its parts");
  test::expect_class(gather(2, MPI_INT, 1, MPI_2INT), MPI_SUCCESS, "parts for a pair");
  test::expect_class(gather(odd ? 8 : 2, odd ? MPI_PACKED : MPI_INT, 2, MPI_INT), MPI_SUCCESS,
                     "packed data for others");
  long long value[2] = {};
  test::expect_class(MPI_Bcast(value, odd ? 1 : 2, odd ? MPI_2INT : MPI_INT, 0, MPI_COMM_WORLD),
                     MPI_SUCCESS, "the same in a broadcast");
  test::expect_class(MPI_Bcast(value, odd ? 8 : 2, odd ? MPI_PACKED : MPI_INT, 0, MPI_COMM_WORLD),
                     MPI_SUCCESS, "packed data in a broadcast");
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG, &pair);
  test::expect(pair != MPI_DATATYPE_NULL, "a pair of double and long");
  test::expect_class(gather(1, pair, 1, pair), MPI_SUCCESS, "a pair that each rank has made");
}

/// Every rank names the parts of all, by types that need not be the same.
void right_parts() {
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  const bool odd = rank == last();
  const int data[2] = {rank, rank};
  std::vector<int> out(static_cast<std::size_t>(2 * size));
  std::vector<int> displs(static_cast<std::size_t>(size));
  std::vector<int> counts(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    displs[static_cast<std::size_t>(i)] = odd ? i : 2 * i;
    counts[static_cast<std::size_t>(i)] = odd ? 1 : 2;
  }
  const int code = MPI_Allgatherv(data, 2, MPI_INT, out.data(), counts.data(), displs.data(),
                                  odd ? pair : MPI_INT, MPI_COMM_WORLD);
  test::expect_class(code, MPI_SUCCESS, "parts of another type with the same signature");
  MPI_Type_free(&pair);
}

void wrong_parts() {
  if (size != 2) return;
  const bool odd = rank == last();
  const std::vector<int> data(2);
  std::vector<int> out(2);
  const std::vector<int> displs = {0, 1};
  std::vector<int> counts = odd ? std::vector<int>{2, 0} : std::vector<int>{1, 1};
  differs(
      MPI_Reduce_scatter(data.data(), out.data(), counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      MPI_ERR_COUNT, "MPI_Reduce_scatter(2 MPI_INT in parts of 2 0, MPI_SUM)",
      "MPI_Reduce_scatter(2 MPI_INT in parts of 1 1, MPI_SUM)");
  differs(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out.data(), counts.data(),
                         displs.data(), MPI_INT, MPI_COMM_WORLD),
          MPI_ERR_COUNT, "MPI_Allgatherv(2 MPI_INT in parts of 2 0)",
          "MPI_Allgatherv(2 MPI_INT in parts of 1 1)");
  counts = {1, 1};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ireduce_scatter(data.data(), out.data(), counts.data(), odd ? MPI_FLOAT : MPI_INT, MPI_SUM,
                      MPI_COMM_WORLD, &request);
  differs(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TYPE,
          "MPI_Ireduce_scatter(2 MPI_FLOAT in parts of 1 1, MPI_SUM)",
          "MPI_Ireduce_scatter(2 MPI_INT in parts of 1 1, MPI_SUM)");
  test::expect_class(
      MPI_Reduce_scatter(data.data(), out.data(), counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      MPI_SUCCESS, "right parts");
}

/// The last rank gives less than all say that it does.
void short_part() {
  if (size != 2) return;
  const int data[2] = {rank, rank};
  std::vector<int> out(4);
  const std::vector<int> counts = {2, 2};
  const std::vector<int> displs = {0, 2};
  const int code = MPI_Allgatherv(data, rank == last() ? 1 : 2, MPI_INT, out.data(), counts.data(),
                                  displs.data(), MPI_INT, MPI_COMM_WORLD);
  test::expect_class(code, MPI_ERR_COUNT, "a part that is too short");
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  const char* wanted =
      "rank 1 called MPI_Allgatherv(1 MPI_INT, 4 MPI_INT in parts of 2 2) and gives";
  test::expect(std::strstr(text, wanted) != nullptr, "text of a part that is too short");
}

/// Counts and displacements of blocks of `each` ints for every rank.
struct Parts {
  explicit Parts(int each) : counts(static_cast<std::size_t>(size), each) {
    for (int i = 0; i < size; ++i) displs.push_back(4 * i);
  }
  std::vector<int> counts;
  std::vector<int> displs;
  std::vector<int> data = std::vector<int>(static_cast<std::size_t>(4 * size));
};

/// What the root expects of each, or gives it.
void amounts_of_roots() {
  const std::string name = std::to_string(last());
  const bool odd = rank == last();
  Parts parts(2);
  int own[4] = {};
  const auto gather = [&](int count, MPI_Datatype type, const void* from) {
    return MPI_Gatherv(from, count, type, parts.data.data(), parts.counts.data(),
                       parts.displs.data(), MPI_INT, 0, MPI_COMM_WORLD);
  };
  test::expect_class(gather(2, MPI_INT, rank == 0 ? MPI_IN_PLACE : own), MPI_SUCCESS, "gatherv");
  says(gather(odd ? 1 : 2, MPI_INT, own), MPI_ERR_COUNT,
       "rank " + name + " gives rank 0 4 bytes of MPI_INT where that expects 8 bytes of MPI_INT");
  says(gather(2, odd ? MPI_FLOAT : MPI_INT, own), MPI_ERR_TYPE,
       "rank " + name + " gives rank 0 8 bytes of MPI_FLOAT where that expects 8 bytes of MPI_INT");
  says(gather(odd ? 0 : 2, MPI_INT, own), MPI_ERR_COUNT,
       "rank " + name + " gives rank 0 0 bytes where that expects 8 bytes of MPI_INT");
  const auto scatter = [&](int count, void* to) {
    return MPI_Scatterv(parts.data.data(), parts.counts.data(), parts.displs.data(), MPI_INT, to,
                        count, MPI_INT, 0, MPI_COMM_WORLD);
  };
  test::expect_class(scatter(2, rank == 0 ? MPI_IN_PLACE : own), MPI_SUCCESS, "scatterv");
  says(scatter(odd ? 3 : 2, own), MPI_ERR_COUNT,
       "rank 0 gives rank " + name + " 8 bytes of MPI_INT where that expects 12 bytes of MPI_INT");
  MPI_Request request;
  MPI_Iscatterv(parts.data.data(), parts.counts.data(), parts.displs.data(), MPI_INT, own,
                odd ? 0 : 2, MPI_INT, 0, MPI_COMM_WORLD, &request);
  says(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_COUNT,
       "rank 0 gives rank " + name + " 8 bytes of MPI_INT where that expects 0 bytes");
  test::expect_class(scatter(2, own), MPI_SUCCESS, "usable afterwards");
}

/// What each gives each.
void amounts_of_all() {
  const std::string name = std::to_string(last());
  const bool odd = rank == last();
  Parts out(1);
  Parts in(1);
  const auto exchange = [&](const void* from) {
    return MPI_Alltoallv(from, out.counts.data(), out.displs.data(), MPI_INT, in.data.data(),
                         in.counts.data(), in.displs.data(), MPI_INT, MPI_COMM_WORLD);
  };
  // Each gives its successor one more.
  const auto next = static_cast<std::size_t>((rank + 1) % size);
  const auto before = static_cast<std::size_t>((rank + size - 1) % size);
  out.counts[next] = in.counts[before] = 2;
  test::expect_class(exchange(out.data.data()), MPI_SUCCESS, "alltoallv");
  if (odd) in.counts[before] = 3;
  says(exchange(out.data.data()), MPI_ERR_COUNT,
       "rank " + std::to_string(before_last()) + " gives rank " + name +
           " 8 bytes of MPI_INT where that expects 12 bytes of MPI_INT");
  in.counts.assign(in.counts.size(), 1);
  test::expect_class(exchange(MPI_IN_PLACE), MPI_SUCCESS, "alltoallv in place");
  if (odd) in.counts[0] = 4;
  says(exchange(MPI_IN_PLACE), MPI_ERR_COUNT,
       "rank 0 gives rank " + name + " 4 bytes of MPI_INT where that expects 16 bytes of MPI_INT");
  in.counts.assign(in.counts.size(), 1);
  out.counts = in.counts;
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(size), MPI_INT);
  std::vector<MPI_Datatype> others = types;
  if (odd) others[0] = MPI_FLOAT;
  for (int& place : out.displs) place *= 4;
  MPI_Request request;
  MPI_Alltoallw_init(out.data.data(), out.counts.data(), out.displs.data(), types.data(),
                     in.data.data(), in.counts.data(), out.displs.data(), others.data(),
                     MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    says(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TYPE,
         "rank 0 gives rank " + name +
             " 4 bytes of MPI_INT where that expects 4 bytes of MPI_FLOAT");
  }
  MPI_Request_free(&request);
}

/// Neighbours may be so several times; with 2 ranks in a ring each is twice.
void amounts_of_neighbours() {
  MPI_Comm ring;
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  const int data[4] = {};
  int in[8] = {};
  const int down_up[2] = {1, 2};
  const int up_down[2] = {2, 1};
  const int displs[2] = {0, 2};
  // One goes down and two go up, so two come from below and one from above.
  test::expect_class(
      MPI_Neighbor_alltoallv(data, down_up, displs, MPI_INT, in, up_down, displs, MPI_INT, ring),
      MPI_SUCCESS, "amounts of neighbours");
  // As much in all, but the wrong way round.
  if (size == 2) {
    says(MPI_Neighbor_alltoallv(data, down_up, displs, MPI_INT, in, rank == 1 ? down_up : up_down,
                                displs, MPI_INT, ring),
         MPI_ERR_COUNT, "rank 0 gives rank 1 4 bytes of MPI_INT where that expects 8 bytes");
  }
  if (size == 2) {
    const MPI_Aint places[2] = {0, 8};
    const int ones[2] = {1, 1};
    const MPI_Datatype same[2] = {MPI_INT, MPI_INT};
    const MPI_Datatype other[2] = {MPI_INT, rank == 1 ? MPI_FLOAT : MPI_INT};
    says(MPI_Neighbor_alltoallw(data, ones, places, same, in, ones, places, other, ring),
         MPI_ERR_TYPE,
         "rank 0 gives rank 1 4 bytes of MPI_INT where that expects 4 bytes of MPI_FLOAT");
  }
  const int wrong[2] = {3, 1};
  says(MPI_Neighbor_alltoallv(data, down_up, displs, MPI_INT, in, rank == last() ? wrong : up_down,
                              displs, MPI_INT, ring),
       MPI_ERR_COUNT,
       "rank " + std::to_string(before_last()) + " gives rank " + std::to_string(last()) +
           " 8 bytes of MPI_INT where that expects 12 bytes of MPI_INT");
  test::expect_class(MPI_Neighbor_allgather(data, 1, MPI_INT, in, 1, MPI_INT, ring), MPI_SUCCESS,
                     "usable afterwards");
  MPI_Comm_free(&ring);
}

/// A graph in which one rank names an edge that the other does not.
void edges_of_one_side() {
  const int zero = 0;
  const int end = last();
  const int data = rank;
  int in[2] = {};
  for (const bool sends : {true, false}) {
    MPI_Comm graph;
    const int sources = !sends && rank == end ? 1 : 0;
    const int destinations = sends && rank == 0 ? 1 : 0;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, &zero, MPI_UNWEIGHTED, destinations,
                                   &end, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    says(MPI_Neighbor_alltoall(&data, 1, MPI_INT, in, 1, MPI_INT, graph), MPI_ERR_COUNT,
         sends ? "rank 0 gives rank " + std::to_string(end) +
                     " 4 bytes of MPI_INT, which that does not expect"
               : "rank " + std::to_string(end) +
                     " expects 4 bytes of MPI_INT from rank 0, which that does not give");
    MPI_Comm_free(&graph);
  }
}

/// A non-blocking call does not wait for the others; its request ends with the error.
void wrong_requests() {
  int data[4] = {};
  int out[4] = {};
  const bool odd = rank == last();
  MPI_Request request = MPI_REQUEST_NULL;
  test::expect_class(odd ? MPI_Ibarrier(MPI_COMM_WORLD, &request)
                         : MPI_Ibcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD, &request),
                     MPI_SUCCESS, "the start of a wrong call");
  // No rank waits yet.
  int token = rank;
  MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 3, (rank + size - 1) % size, 3,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  differs(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER, "MPI_Ibarrier()",
          "MPI_Ibcast(root 0, 4 MPI_INT)");
  differs(odd ? MPI_Bcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD)
              : (MPI_Ibcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD, &request),
                 MPI_Wait(&request, MPI_STATUS_IGNORE)),
          MPI_ERR_OTHER, "MPI_Bcast(root 0, 4 MPI_INT)", "MPI_Ibcast(root 0, 4 MPI_INT)");
  MPI_Allreduce_init(data, out, odd ? 3 : 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    differs(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_COUNT,
            "MPI_Allreduce_init(3 MPI_INT, MPI_SUM)", "MPI_Allreduce_init(4 MPI_INT, MPI_SUM)");
  }
  MPI_Request_free(&request);
}

/// Requests that fit: their results, and two that are under way at the same time.
void right_requests() {
  const int value = rank + 1;
  int sums[2] = {};
  MPI_Request requests[2];
  MPI_Iallreduce(&value, &sums[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(&value, &sums[1], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[1]);
  test::expect_class(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_SUCCESS, "the second first");
  test::expect_class(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS, "the first");
  test::expect_equal(sums[0], size * (size + 1) / 2, "sum");
  test::expect_equal(sums[1], size, "maximum");
}

void neighbours() {
  MPI_Comm ring;
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  int out[2] = {};
  test::expect_class(MPI_Neighbor_allgather(&rank, 1, MPI_INT, out, 1, MPI_INT, ring), MPI_SUCCESS,
                     "a right neighbour call");
  test::expect_equal(out[1], (rank + 1) % size, "from above");
  int both[2] = {};
  differs(rank == last() ? MPI_Neighbor_alltoall(both, 1, MPI_INT, out, 1, MPI_INT, ring)
                         : MPI_Neighbor_allgather(&rank, 1, MPI_INT, out, 1, MPI_INT, ring),
          MPI_ERR_OTHER, "MPI_Neighbor_alltoall(1 MPI_INT, 1 MPI_INT)",
          "MPI_Neighbor_allgather(1 MPI_INT, 1 MPI_INT)");
  MPI_Comm_free(&ring);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  right_calls();
  if (size > 1) wrong_calls();
  the_same_by_another_type();
  right_parts();
  wrong_parts();
  short_part();
  if (size > 1) {
    other_side();
    amounts_of_roots();
    amounts_of_all();
    amounts_of_neighbours();
    edges_of_one_side();
    wrong_requests();
  }
  right_requests();
  neighbours();
  right_calls();
  return test::finish();
}
