// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What a collective call reads must not be what it writes (MPI 5.0 section 6.2.2): such calls end
// with MPI_ERR_BUFFER instead of wrong data, and the communicator can still be used.
// ranks: 1 2 3

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "support/check.h"

namespace {

using test::expect_class;
using test::expect_equal;

struct Buffers {
  int rank = test::rank_of(MPI_COMM_WORLD);
  int size = test::size_of(MPI_COMM_WORLD);
  std::vector<int> words = std::vector<int>(static_cast<std::size_t>(size), 1);
  std::vector<int> ones = std::vector<int>(static_cast<std::size_t>(size), 1);
  std::vector<int> displs;
  std::vector<int> bytes;
  std::vector<MPI_Datatype> types =
      std::vector<MPI_Datatype>(static_cast<std::size_t>(size), MPI_INT);

  Buffers() {
    for (int r = 0; r < size; ++r) {
      displs.push_back(r);
      bytes.push_back(4 * r);
    }
  }
  int* own() { return words.data() + rank; }
};

void still_usable(const char* call) {
  const int size = test::size_of(MPI_COMM_WORLD);
  const int own = test::rank_of(MPI_COMM_WORLD) + 1;
  int sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect_equal(sum, size * (size + 1) / 2, call);
  sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(sum, size * (size + 1) / 2, call);
}

void refused(int code, const char* call) {
  expect_class(code, MPI_ERR_BUFFER, call);
  still_usable(call);
}

/// Calls that are wrong in every rank.
void everywhere() {
  Buffers b;
  MPI_Comm comm = MPI_COMM_WORLD;
  int* all = b.words.data();
  MPI_Request request = MPI_REQUEST_NULL;
  refused(MPI_Allgather(b.own(), 1, MPI_INT, all, 1, MPI_INT, comm), "MPI_Allgather");
  refused(MPI_Allgatherv(b.own(), 1, MPI_INT, all, b.ones.data(), b.displs.data(), MPI_INT, comm),
          "MPI_Allgatherv");
  refused(MPI_Alltoall(all, 1, MPI_INT, all, 1, MPI_INT, comm), "MPI_Alltoall");
  refused(MPI_Ialltoall(all, 1, MPI_INT, all, 1, MPI_INT, comm, &request), "MPI_Ialltoall");
  refused(MPI_Alltoall_init(all, 1, MPI_INT, all, 1, MPI_INT, comm, MPI_INFO_NULL, &request),
          "MPI_Alltoall_init");
  refused(MPI_Alltoallv(all, b.ones.data(), b.displs.data(), MPI_INT, all, b.ones.data(),
                        b.displs.data(), MPI_INT, comm),
          "MPI_Alltoallv");
  refused(MPI_Alltoallw(all, b.ones.data(), b.bytes.data(), b.types.data(), all, b.ones.data(),
                        b.bytes.data(), b.types.data(), comm),
          "MPI_Alltoallw");
  refused(MPI_Allreduce(all, all, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  refused(MPI_Scan(all, all, 1, MPI_INT, MPI_SUM, comm), "MPI_Scan");
  refused(MPI_Reduce_local(all, all, 1, MPI_INT, MPI_SUM), "MPI_Reduce_local");
  refused(MPI_Reduce_local(nullptr, all, 1, MPI_INT, MPI_SUM), "MPI_Reduce_local of nothing");
  refused(MPI_Reduce_local(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM), "MPI_Reduce_local in place");
}

/// Calls that are wrong at the root alone, which the others end without it.
void at_root(int count) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const int root = size - 1;
  const auto n = static_cast<std::size_t>(count);
  std::vector<int> all(n * static_cast<std::size_t>(size), 1);
  std::vector<int> own(n, 1);
  const bool is_root = rank == root;
  const int wanted = is_root ? MPI_ERR_BUFFER : MPI_SUCCESS;
  expect_class(MPI_Reduce(is_root ? all.data() : own.data(), all.data(), count, MPI_INT, MPI_SUM,
                          root, MPI_COMM_WORLD),
               wanted, "MPI_Reduce");
  still_usable("after MPI_Reduce");
  const int* block = is_root ? all.data() + n * static_cast<std::size_t>(root) : own.data();
  expect_class(MPI_Gather(block, count, MPI_INT, all.data(), count, MPI_INT, root, MPI_COMM_WORLD),
               wanted, "MPI_Gather");
  still_usable("after MPI_Gather");
}

void alone() {
  int word = 1;
  const int one = 1;
  const int zero = 0;
  refused(MPI_Gatherv(&word, 1, MPI_INT, &word, &one, &zero, MPI_INT, 0, MPI_COMM_SELF),
          "MPI_Gatherv");
  refused(MPI_Scatter(&word, 1, MPI_INT, &word, 1, MPI_INT, 0, MPI_COMM_SELF), "MPI_Scatter");
  refused(MPI_Scatterv(&word, &one, &zero, MPI_INT, &word, 1, MPI_INT, 0, MPI_COMM_SELF),
          "MPI_Scatterv");
}

/// Nothing is read or written twice here.
void allowed() {
  Buffers b;
  std::vector<int> zeros(b.words.size(), 0);
  int* all = b.words.data();
  MPI_Comm comm = MPI_COMM_WORLD;
  expect_class(MPI_Alltoall(all, 0, MPI_INT, all, 0, MPI_INT, comm), MPI_SUCCESS, "no elements");
  expect_class(MPI_Alltoallv(all, zeros.data(), zeros.data(), MPI_INT, all, zeros.data(),
                             zeros.data(), MPI_INT, comm),
               MPI_SUCCESS, "no elements in the v-form");
  // One array, read in its first half and written in the second.
  std::vector<int> both(2 * b.words.size());
  std::vector<int> upper = b.displs;
  for (int r = 0; r < b.size; ++r) {
    both[static_cast<std::size_t>(r)] = 10 * b.rank + r;
    upper[static_cast<std::size_t>(r)] += b.size;
  }
  expect_class(MPI_Alltoallv(both.data(), b.ones.data(), b.displs.data(), MPI_INT, both.data(),
                             b.ones.data(), upper.data(), MPI_INT, comm),
               MPI_SUCCESS, "halves of one array");
  for (int r = 0; r < b.size; ++r) {
    expect_equal(both[static_cast<std::size_t>(b.size + r)], 10 * r + b.rank, "upper half");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  everywhere();
  at_root(1);
  at_root(1000);
  alone();
  allowed();
  return test::finish();
}
