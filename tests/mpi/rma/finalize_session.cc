// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A window that is not freed before MPI_Session_finalize, which synchronises then (MPI 5.0, 11.3.1): others may still use
// the memory of a rank that has called it.
// ranks: 2 3

#include <mpi.h>

#include <array>

#include "rma/last_use.h"

int main() {
  static std::array<int, 8> own{};
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "windows", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  MPI_Win_create(own.data(), sizeof own, 4, MPI_INFO_NULL, comm, &win);
  const pid_t process = test::process_of_target(comm);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  if (rank != test::target) {
    test::let_end(process);
    test::add_one(win);
  }
  MPI_Session_finalize(&session);
  if (rank == test::target) test::expect_equal(own[0], size - 1, "what all have added");
  return test::failures() == 0 ? 0 : 1;
}
