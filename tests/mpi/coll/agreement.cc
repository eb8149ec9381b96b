// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// With FULMAR_CHECK=collectives a collective call that does not fit those of the other ranks ends
// in all of them with an error that says who called what, and the communicator stays usable.
//
// ranks: 1 2 3
// env: FULMAR_CHECK=collectives
#include <cstring>
#include <string>
#include <vector>

#include "../support/check.h"

namespace {

int rank = 0;
int size = 1;
int last() { return size - 1; }

/// The last rank called something else than the first.
void differs(int code, int error_class, const std::string& last_call, const std::string& call) {
  if (size == 1) return;
  test::expect_class(code, error_class, "class of the mismatch");
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  const std::string wanted =
      "rank " + std::to_string(last()) + " called " + last_call + " where rank 0 called " + call;
  const bool said = std::string(text).find(wanted) != std::string::npos;
  test::expect(said, "text of the mismatch");
  if (!said) std::fprintf(stderr, "  got: %s\n  expected: %s\n", text, wanted.c_str());
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

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  right_calls();
  if (size > 1) wrong_calls();
  right_calls();
  return test::finish();
}
