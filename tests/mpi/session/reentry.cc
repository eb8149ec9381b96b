// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2 5
// env: FULMAR_FABRIC=tcp
//
// MPI is left and entered again, over a network (MPI 5.0, 11.2.2 and 11.3): by sessions one after
// the other, before and after the world model; by some ranks while others stay; and by ranks that
// are early or late.

#include <mpi.h>

#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect_equal;

MPI_Session open_session() {
  MPI_Session session = MPI_SESSION_NULL;
  expect_equal(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session), MPI_SUCCESS,
               "MPI_Session_init");
  return session;
}

MPI_Comm world_of(MPI_Session session, const std::string& tag) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

/// Short and long messages between all, and a sum; `seed` makes the contents differ.
void talk(MPI_Comm comm, int seed) {
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  for (const int count : {1, 30'000}) {
    for (int distance = 1; distance < size; ++distance) {
      const int to = (rank + distance) % size;
      const int from = (rank + size - distance) % size;
      const std::vector<int> out(static_cast<std::size_t>(count), rank + seed);
      std::vector<int> in(out.size(), -1);
      MPI_Sendrecv(out.data(), count, MPI_INT, to, seed, in.data(), count, MPI_INT, from, seed,
                   comm, MPI_STATUS_IGNORE);
      expect_equal(in.front(), from + seed, "first of a message");
      expect_equal(in.back(), from + seed, "last of a message");
    }
  }
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect_equal(sum, size, "sum over all");
}

void one_session(int seed) {
  MPI_Session session = open_session();
  MPI_Comm comm = world_of(session, "session");
  talk(comm, seed);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

/// Rank 0 alone sends, and goes on at once: to the next session, into which the others come when
/// they have left this one. The message of a session must not end up in the end of the one before.
void hurried_session(int seed) {
  MPI_Session session = open_session();
  MPI_Comm comm = world_of(session, "hurry");
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  int value = seed;
  if (rank == 0) {
    for (int to = 1; to < size; ++to) MPI_Send(&value, 1, MPI_INT, to, seed, comm);
  } else {
    value = -1;
    MPI_Recv(&value, 1, MPI_INT, 0, seed, comm, MPI_STATUS_IGNORE);
  }
  expect_equal(value, seed, "message of this session");
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

/// Odd ranks leave MPI and come back, even ones stay in it.
void some_leave(int seed) {
  MPI_Session first = open_session();
  MPI_Comm comm = world_of(first, "some");
  talk(comm, seed);
  const int rank = test::rank_of(comm);
  MPI_Comm_free(&comm);
  MPI_Session second = MPI_SESSION_NULL;
  if (rank % 2 == 0) {
    second = open_session();
    MPI_Session_finalize(&first);
  } else {
    MPI_Session_finalize(&first);
    second = open_session();
  }
  comm = world_of(second, "others");
  talk(comm, seed + 1);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&second);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 0; i < 3; ++i) one_session(10 * i);
  for (int i = 0; i < 10; ++i) hurried_session(100 + i);
  some_leave(200);
  MPI_Init(&argc, &argv);
  talk(MPI_COMM_WORLD, 300);
  MPI_Finalize();
  // Another launcher has been informed that this process is done.
  one_session(400);
  for (int i = 0; i < 10; ++i) hurried_session(500 + i);
  some_leave(600);
  return test::failures() == 0 ? 0 : 1;
}
