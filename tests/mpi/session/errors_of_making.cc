// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
//
// Wrong arguments of the calls that are given an error handler go to that one, without MPI_COMM_SELF
// or MPI_COMM_WORLD: MPI_Session_init (MPI 5.0 section 11.3.1), and those that make a communicator
// from groups (section 7.4.2).

#include <mpi.h>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

int session_calls = 0;
int comm_calls = 0;

void on_session_error(MPI_Session* session, int* /*code*/, ...) {
  ++session_calls;
  expect(*session == MPI_SESSION_NULL, "there is no session");
}

void on_comm_error(MPI_Comm* comm, int* /*code*/, ...) {
  ++comm_calls;
  expect(*comm == MPI_COMM_NULL, "there is no communicator");
}

MPI_Info freed_info() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  const MPI_Info freed = info;
  MPI_Info_free(&info);
  return freed;
}

void session_init(MPI_Errhandler handler) {
  MPI_Session session = MPI_SESSION_NULL;
  expect_class(MPI_Session_init(freed_info(), handler, &session), MPI_ERR_INFO,
               "MPI_Session_init with no info");
  expect_class(MPI_Session_init(MPI_INFO_NULL, handler, nullptr), MPI_ERR_ARG,
               "MPI_Session_init into nothing");
  expect(session == MPI_SESSION_NULL, "no session");
}

void create_from_group(MPI_Group group, MPI_Errhandler handler) {
  MPI_Comm made = MPI_COMM_NULL;
  const char* call = "MPI_Comm_create_from_group";
  expect_class(MPI_Comm_create_from_group(MPI_GROUP_NULL, "test", MPI_INFO_NULL, handler, &made),
               MPI_ERR_GROUP, call);
  expect_class(MPI_Comm_create_from_group(group, nullptr, MPI_INFO_NULL, handler, &made),
               MPI_ERR_ARG, call);
  expect_class(MPI_Comm_create_from_group(group, "test", freed_info(), handler, &made),
               MPI_ERR_INFO, call);
  expect_class(MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, handler, nullptr),
               MPI_ERR_ARG, call);
  expect(made == MPI_COMM_NULL, call);
}

void intercomm_create_from_groups(MPI_Group group, MPI_Errhandler handler) {
  MPI_Comm made = MPI_COMM_NULL;
  expect_class(MPI_Intercomm_create_from_groups(MPI_GROUP_NULL, 0, group, 0, "test", MPI_INFO_NULL,
                                                handler, &made),
               MPI_ERR_GROUP, "MPI_Intercomm_create_from_groups");
  expect(made == MPI_COMM_NULL, "MPI_Intercomm_create_from_groups");
}

}  // namespace

int main() {
  MPI_Errhandler on_session = MPI_ERRHANDLER_NULL;
  MPI_Errhandler on_comm = MPI_ERRHANDLER_NULL;
  MPI_Session_create_errhandler(on_session_error, &on_session);
  MPI_Comm_create_errhandler(on_comm_error, &on_comm);
  session_init(on_session);
  expect_equal(session_calls, 2, "calls of the function for sessions");
  session_init(MPI_ERRORS_RETURN);
  expect_equal(session_calls, 2, "calls of the function for sessions, without it");

  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  create_from_group(group, on_comm);
  expect_equal(comm_calls, 4, "calls of the function for communicators");
  intercomm_create_from_groups(group, on_comm);
  expect_equal(comm_calls, 5, "calls of the function for communicators, from two groups");
  create_from_group(group, MPI_ERRORS_RETURN);
  intercomm_create_from_groups(group, MPI_ERRORS_RETURN);
  expect_equal(comm_calls, 5, "calls of the function for communicators, without it");

  MPI_Comm made = MPI_COMM_NULL;
  expect_class(MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
               MPI_SUCCESS, "MPI_Comm_create_from_group afterwards");
  MPI_Comm_free(&made);
  MPI_Group_free(&group);
  MPI_Errhandler_free(&on_session);
  MPI_Errhandler_free(&on_comm);
  MPI_Session_finalize(&session);
  return test::failures() == 0 ? 0 : 1;
}
