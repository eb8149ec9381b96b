// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// With FULMAR_CHECK=collectives a collective call between groups that does not fit those of the
// other ranks ends in all of them with the same error, which says which rank called what, and the
// intercommunicator stays usable. Rank 0 alone is one group, all others are the other.
//
// ranks: 2 3 5
// env: FULMAR_CHECK=collectives
#include <string>
#include <vector>

#include "../support/check.h"

namespace {

MPI_Comm inter = MPI_COMM_NULL;
int rank = 0;
int size = 1;
bool left = false;  ///< whether this is the group of rank 0
int remote = 0;     ///< ranks of the other group

/// The root of calls from the left group to the right one.
int root_of_left() { return left ? MPI_ROOT : 0; }
/// Of calls from the right one, by its first rank, to the left one.
int root_of_right() {
  if (left) return 0;
  return rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
}
bool odd() { return rank == size - 1; }
/// The odd one among its group.
std::string odd_name() { return std::to_string(size - 2); }
std::string here(const std::string& of_right, bool in_right) {
  return "rank " + of_right + (left == in_right ? " of the other group" : "");
}
/// A rank of the left or right group, in the words of this rank.
std::string left_rank() { return here("0", false); }
std::string right_rank(const std::string& number) { return here(number, true); }

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
void good(int code, const char* what) { test::expect_class(code, MPI_SUCCESS, what); }

std::string bytes(int count) { return std::to_string(count) + " bytes of MPI_INT"; }
std::string gives(const std::string& from, const std::string& to, const std::string& what,
                  const std::string& wanted) {
  return from + " gives " + to + " " + what + " where that expects " + wanted;
}

void right_calls() {
  int value = rank;
  int sum = -1;
  good(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter), "a right call between groups");
  test::expect_equal(sum, left ? size * (size - 1) / 2 : 0, "sum of the other group");
  // Each group names the parts of the other one, and may give more than it gets.
  std::vector<int> all(static_cast<std::size_t>(2 * size));
  const std::vector<int> counts(static_cast<std::size_t>(size), left ? 1 : 2);
  const std::vector<int> given(2, rank);
  std::vector<int> places;
  for (int i = 0; i < size; ++i) places.push_back(2 * i);
  good(MPI_Allgatherv(given.data(), left ? 2 : 1, MPI_INT, all.data(), counts.data(), places.data(),
                      MPI_INT, inter),
       "right parts of the other group");
  good(MPI_Allgather(given.data(), left ? 2 : 1, MPI_INT, all.data(), left ? 1 : 2, MPI_INT, inter),
       "each group gets another amount than it gives");
  good(MPI_Bcast(&value, 1, MPI_INT, root_of_left(), inter), "a right root");
  // Of the second group rank 0 is the root; the others take no part and may give anything.
  const bool idle = rank > 1;
  good(MPI_Reduce(&value, &sum, idle ? -1 : 1, idle ? MPI_DATATYPE_NULL : MPI_INT,
                  idle ? MPI_OP_NULL : MPI_SUM, root_of_right(), inter),
       "nonsense of those that take no part");
  MPI_Request request;
  MPI_Ibarrier(inter, &request);
  good(MPI_Wait(&request, MPI_STATUS_IGNORE), "a right request");
}

void other_calls() {
  int value = rank;
  int sum = 0;
  const int code =
      odd() ? MPI_Barrier(inter) : MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
  test::expect_class(code, MPI_ERR_OTHER, "another call between groups");
  test::expect_class(MPI_Bcast(&value, 1, MPI_INT, left ? MPI_PROC_NULL : 0, inter), MPI_ERR_ROOT,
                     "nobody is the root");
  if (size > 2) {
    test::expect_class(MPI_Bcast(&value, odd() ? 0 : 1, MPI_INT, root_of_left(), inter),
                       MPI_ERR_COUNT, "another count within a group");
  }
}

/// All of a group give as much, but the other group expects another amount or type.
void amounts_of_roots() {
  const std::vector<int> data(4);
  std::vector<int> room(static_cast<std::size_t>(4 * size));
  says(MPI_Bcast(room.data(), left ? 2 : 1, MPI_INT, root_of_left(), inter), MPI_ERR_COUNT,
       gives(left_rank(), right_rank("0"), bytes(8), bytes(4)));
  says(MPI_Bcast(room.data(), 1, left ? MPI_FLOAT : MPI_INT, root_of_left(), inter), MPI_ERR_TYPE,
       gives(left_rank(), right_rank("0"), "4 bytes of MPI_FLOAT", bytes(4)));
  says(MPI_Gather(data.data(), 2, MPI_INT, room.data(), 1, MPI_INT, root_of_left(), inter),
       MPI_ERR_COUNT, gives(right_rank("0"), left_rank(), bytes(8), bytes(4)));
  says(MPI_Scatter(data.data(), 1, MPI_INT, room.data(), 3, MPI_INT, root_of_left(), inter),
       MPI_ERR_COUNT, gives(left_rank(), right_rank("0"), bytes(4), bytes(12)));
  says(MPI_Reduce(data.data(), room.data(), left ? 3 : 4, MPI_INT, MPI_SUM, root_of_right(), inter),
       MPI_ERR_COUNT, gives(left_rank(), right_rank("0"), bytes(12), bytes(16)));
  const std::vector<int> counts(static_cast<std::size_t>(size), 2);
  std::vector<int> places;
  for (int i = 0; i < size; ++i) places.push_back(2 * i);
  says(MPI_Gatherv(data.data(), odd() ? 1 : 2, MPI_INT, room.data(), counts.data(), places.data(),
                   MPI_INT, root_of_left(), inter),
       MPI_ERR_COUNT, gives(right_rank(odd_name()), left_rank(), bytes(4), bytes(8)));
  says(MPI_Scatterv(data.data(), counts.data(), std::vector<int>(counts.size()).data(), MPI_INT,
                    room.data(), odd() ? 1 : 2, MPI_INT, root_of_left(), inter),
       MPI_ERR_COUNT, gives(left_rank(), right_rank(odd_name()), bytes(8), bytes(4)));
}

void amounts_of_all() {
  const std::vector<int> data(static_cast<std::size_t>(4 * size));
  std::vector<int> room(static_cast<std::size_t>(4 * size));
  says(MPI_Allreduce(data.data(), room.data(), left ? 3 : 4, MPI_INT, MPI_SUM, inter),
       MPI_ERR_COUNT, gives(left_rank(), right_rank("0"), bytes(12), bytes(16)));
  says(MPI_Allgather(data.data(), 2, MPI_INT, room.data(), odd() ? 1 : 2, MPI_INT, inter),
       MPI_ERR_COUNT, gives(left_rank(), right_rank(odd_name()), bytes(8), bytes(4)));
  says(MPI_Alltoall(data.data(), 2, MPI_INT, room.data(), left ? 1 : 2, MPI_INT, inter),
       MPI_ERR_COUNT, gives(right_rank("0"), left_rank(), bytes(8), bytes(4)));
  // The sums of both groups' counts are the same, but at the end not.
  const int of_left = 2 * remote;
  good(MPI_Reduce_scatter_block(data.data(), room.data(), left ? of_left : 2, MPI_INT, MPI_SUM,
                                inter),
       "as much in both groups");
  const std::string total = bytes(4 * 2 * (size - 1));
  says(MPI_Reduce_scatter_block(data.data(), room.data(), left ? 1 : 2, MPI_INT, MPI_SUM, inter),
       MPI_ERR_COUNT, gives(left_rank(), right_rank("0"), bytes(4), total));
  std::vector<int> counts(static_cast<std::size_t>(size), 1);
  counts[static_cast<std::size_t>(remote - 1)] = odd() ? 2 : 1;
  std::vector<int> places;
  for (int i = 0; i < size; ++i) places.push_back(4 * i);
  const std::vector<int> ones(static_cast<std::size_t>(size), 1);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ialltoallv(data.data(), ones.data(), places.data(), MPI_INT, room.data(), counts.data(),
                 places.data(), MPI_INT, inter, &request);
  says(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_COUNT,
       gives(left_rank(), right_rank(odd_name()), bytes(4), bytes(8)));
  MPI_Allgather_init(data.data(), 1, MPI_INT, room.data(), odd() ? 2 : 1, MPI_INT, inter,
                     MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    says(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_COUNT,
         gives(left_rank(), right_rank(odd_name()), bytes(4), bytes(8)));
  }
  MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  left = rank == 0;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, left ? 0 : 1, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? 1 : 0, 0, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Comm_remote_size(inter, &remote);
  right_calls();
  other_calls();
  amounts_of_roots();
  right_calls();
  amounts_of_all();
  right_calls();
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  return test::finish();
}
