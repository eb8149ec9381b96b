// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Non-blocking collective calls of all kinds, many under way at a time on several communicators,
// mixed with blocking ones and with the user's messages, completed in different orders by different
// ranks. MPI 5.0 section 6.12.
// ranks: 1 2 3 4 5

#include <mpi.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "support/collectives.h"

namespace {

using test::Collective;
using test::expect;
using test::expect_class;
using test::expect_equal;
using test::Kind;

int random_count(test::Shared& random) {
  switch (random.below(8)) {
    case 0:
      return 0;
    case 1:
      return random.below(3000);
    case 2:
      return random.below(100);
    default:
      return 1 + random.below(8);
  }
}

/// Other decisions in each rank.
class Own {
 public:
  explicit Own(unsigned seed)
      : random_(seed + 77U * static_cast<unsigned>(test::rank_of(MPI_COMM_WORLD))) {}
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

 private:
  std::mt19937 random_;
};

void complete_all(std::deque<Collective>& open, Own& own) {
  std::vector<MPI_Request> requests;
  for (const Collective& one : open) {
    if (one.request != MPI_REQUEST_NULL) requests.push_back(one.request);
  }
  const auto n = static_cast<int>(requests.size());
  switch (own.below(4)) {
    case 0:
      MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE);
      break;
    case 1:  // one by one, by test alone, the last one first
      for (int i = n - 1; i >= 0; --i) {
        int flag = 0;
        while (flag == 0)
          MPI_Test(&requests[static_cast<std::size_t>(i)], &flag, MPI_STATUS_IGNORE);
      }
      break;
    case 2:
      for (int done = 0; done < n; ++done) {
        int index = MPI_UNDEFINED;
        MPI_Waitany(n, requests.data(), &index, MPI_STATUS_IGNORE);
        expect(index != MPI_UNDEFINED, "MPI_Waitany finds each of them once");
      }
      break;
    default: {
      std::shuffle(requests.begin(), requests.end(), std::mt19937(static_cast<unsigned>(n)));
      for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  for (const MPI_Request request : requests) {
    expect(request == MPI_REQUEST_NULL, "a completed request is gone");
  }
  for (Collective& one : open) one.check();
  open.clear();
}

void mix(test::Shared& random, const std::vector<MPI_Comm>& comms, int calls) {
  const test::Shapes shapes;
  Own own(static_cast<unsigned>(random.below(1 << 30)));
  std::deque<Collective> open;
  for (int i = 0; i < calls; ++i) {
    const MPI_Comm comm =
        comms[static_cast<std::size_t>(random.below(static_cast<int>(comms.size())))];
    const auto kind = static_cast<Kind>(random.below(static_cast<int>(Kind::count)));
    const test::Shape shape = shapes.at(random.below(test::Shapes::count));
    const int count = random_count(random);
    const int root = random.below(test::size_of(comm));
    const bool in_place = random.below(3) == 0;
    const bool blocking = random.below(5) == 0;
    open.emplace_back(kind, comm, shape, count, root, in_place);
    Collective& one = open.back();
    one.fill(i);
    expect_equal(one.call(blocking ? Collective::Form::blocking : Collective::Form::nonblocking),
                 MPI_SUCCESS, one.name());
    if (random.below(12) == 0) complete_all(open, own);
  }
  complete_all(open, own);
}

/// The user frees what he gave while the operation is under way.
void handles_freed_early() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int size = test::size_of(comm);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_UINT32_T, &pair);
  MPI_Type_create_resized(pair, 0, 16, &pair);
  MPI_Type_commit(&pair);
  MPI_Op op = MPI_OP_NULL;
  const auto add = [](void* in, void* inout, int* count, MPI_Datatype* type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    expect_class(MPI_Type_get_extent(*type, &lower, &extent), MPI_SUCCESS, "handle of the type");
    expect_equal(extent, 16, "extent of the freed type");
    for (int i = 0; i < 4 * *count; i += 2) {
      static_cast<std::uint32_t*>(inout)[i] += static_cast<std::uint32_t*>(in)[i];
    }
  };
  MPI_Op_create(add, 1, &op);
  const auto own = static_cast<std::uint32_t>(rank + 1);
  const std::vector<std::uint32_t> send = {own, 0, 2 * own, 0};
  std::vector<std::uint32_t> sum(4, 9);
  std::vector<std::uint32_t> all(4 * static_cast<std::size_t>(size), 9);
  const std::vector<int> ones(static_cast<std::size_t>(size), 1);
  std::vector<int> displs;
  for (int r = 0; r < size; ++r) displs.push_back(16 * r);
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(size), pair);
  const std::vector<int> zeros(static_cast<std::size_t>(size), 0);
  std::vector<MPI_Request> requests(3, MPI_REQUEST_NULL);
  MPI_Iallreduce(send.data(), sum.data(), 1, pair, op, comm, &requests[0]);
  MPI_Ialltoallw(send.data(), ones.data(), zeros.data(), types.data(), all.data(), ones.data(),
                 displs.data(), types.data(), comm, &requests[1]);
  MPI_Ibarrier(comm, &requests[2]);
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
  MPI_Comm_free(&comm);
  MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
  const auto expected = static_cast<std::uint32_t>(size * (size + 1) / 2);
  expect_equal(sum[0], expected, "MPI_Iallreduce with freed handles");
  expect_equal(sum[2], 2 * expected, "MPI_Iallreduce with freed handles, second element");
  expect_equal(sum[1], 9U, "gaps stay");
  for (int r = 0; r < size; ++r) {
    expect_equal(all[4 * static_cast<std::size_t>(r)], r + 1, "MPI_Ialltoallw with freed handles");
  }
}

/// A barrier is complete only after all have started it, and is completed by MPI_Test alone.
void barrier_holds() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  if (size == 1) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    // All other ranks have started; none can have completed.
    for (int r = 1; r < size; ++r)
      MPI_Recv(nullptr, 0, MPI_INT, r, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
  } else {
    int flag = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int i = 0; i < 20; ++i) {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      expect_equal(flag, 0, "rank 0 has not started the barrier");
    }
    MPI_Send(nullptr, 0, MPI_INT, 0, 5, MPI_COMM_WORLD);
  }
  int flag = 0;
  while (flag == 0) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

/// Long data move while the ranks do something else with MPI.
void overlaps_with_messages() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  constexpr int count = 200000;
  std::vector<int> data(count, rank == 0 ? 42 : 0);
  std::vector<long> sums(count, rank);
  std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL);
  MPI_Ibcast(data.data(), count, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(MPI_IN_PLACE, sums.data(), count, MPI_LONG, MPI_MAX, MPI_COMM_WORLD, &requests[1]);
  int token = 0;
  for (int i = 0; i < 10; ++i) {
    MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, i, (rank + size - 1) % size, i,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  expect_equal(std::count(data.begin(), data.end(), 42), count, "MPI_Ibcast of long data");
  expect_equal(std::count(sums.begin(), sums.end(), size - 1), count,
               "MPI_Iallreduce of long data");
}

void statuses_and_errors() {
  const int rank = test::rank_of(MPI_COMM_SELF);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int value = 3;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  status.MPI_ERROR = 77;
  MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF, &request);
  expect_class(MPI_Cancel(&request), MPI_ERR_REQUEST, "MPI_Cancel of a collective");
  expect_class(MPI_Request_free(&request), MPI_ERR_REQUEST, "MPI_Request_free of a collective");
  expect_class(MPI_Start(&request), MPI_ERR_REQUEST, "MPI_Start of one that is not persistent");
  expect(request != MPI_REQUEST_NULL, "the request is still there");
  MPI_Wait(&request, &status);
  expect_equal(status.MPI_ERROR, 77, "a call for one request leaves MPI_ERROR alone");
  int cancelled = 1;
  MPI_Test_cancelled(&status, &cancelled);
  expect_equal(cancelled, 0, "not cancelled");
  int count = -1;
  MPI_Get_count(&status, MPI_INT, &count);
  expect_equal(count, 0, "an empty status");

  expect_class(MPI_Ibcast(&value, -1, MPI_INT, 0, MPI_COMM_SELF, &request), MPI_ERR_COUNT, "count");
  expect_class(MPI_Ibcast(&value, 1, MPI_INT, 1, MPI_COMM_SELF, &request), MPI_ERR_ROOT, "root");
  expect_class(MPI_Ibcast(&value, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE,
               "type");
  expect_class(MPI_Ibarrier(MPI_COMM_NULL, &request), MPI_ERR_COMM, "communicator");
  expect_class(MPI_Iallreduce(&value, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &request),
               MPI_ERR_BUFFER, "the same buffer twice");
  expect_class(
      MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_SELF, &request),
      MPI_ERR_OP, "operation and type");
  const int negative = -2;
  const int zero = 0;
  expect_class(MPI_Iallgatherv(&value, 1, MPI_INT, &value, &negative, &zero, MPI_INT, MPI_COMM_SELF,
                               &request),
               MPI_ERR_COUNT, "a count of the array");
  // A rank's own contribution is longer than its receive buffer: reported at completion.
  std::vector<int> two = {1, 2};
  expect_class(MPI_Iallgather(two.data(), 2, MPI_INT, &value, 1, MPI_INT, MPI_COMM_SELF, &request),
               MPI_SUCCESS, "started");
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "too long");
  expect_equal(rank, 0, "rank in MPI_COMM_SELF");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

void large_counts() {
  const MPI_Count count = 5;
  std::vector<int> data(5, test::rank_of(MPI_COMM_WORLD));
  std::vector<int> sum(5, 0);
  const int size = test::size_of(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce_c(data.data(), sum.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(sum[4], size * (size - 1) / 2, "MPI_Iallreduce_c");
  const std::vector<MPI_Count> counts(static_cast<std::size_t>(size), 5);
  std::vector<MPI_Aint> displs;
  for (int r = 0; r < size; ++r) displs.push_back(5 * r);
  std::vector<int> all(5 * static_cast<std::size_t>(size), -1);
  MPI_Iallgatherv_c(data.data(), count, MPI_INT, all.data(), counts.data(), displs.data(), MPI_INT,
                    MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int r = 0; r < size; ++r) {
    expect_equal(all[static_cast<std::size_t>(5 * r + 4)], r, "MPI_Iallgatherv_c");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    test::Shared random(argc, argv);
    MPI_Comm dup = MPI_COMM_NULL;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test::rank_of(MPI_COMM_WORLD), &half);  // the other order
    mix(random, {MPI_COMM_WORLD, dup, half}, 600);
    handles_freed_early();
    barrier_holds();
    overlaps_with_messages();
    statuses_and_errors();
    large_counts();
    MPI_Comm_free(&dup);
    MPI_Comm_free(&half);
  }
  return test::finish();
}
