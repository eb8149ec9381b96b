// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Sessions: process sets, communicators without a world, before, beside and after it.
// ranks: 1 2 4

#include <mpi.h>

#include <cstring>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

MPI_Comm comm_of(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group_from_session_pset(session, set, &group);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  return comm;
}

void check_works(MPI_Comm comm, const char* what) {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int sum = -1;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect_equal(sum, size * (size - 1) / 2, what);
}

void check_sets(MPI_Session session) {
  int count = 0;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
  expect(count >= 2, "there are process sets");
  bool world = false;
  bool self = false;
  for (int i = 0; i < count; ++i) {
    int length = 0;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, nullptr);
    char name[MPI_MAX_PSET_NAME_LEN];
    const int needed = length;
    expect(needed > 1 && needed <= MPI_MAX_PSET_NAME_LEN, "the length of a name");
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    expect_equal(static_cast<int>(std::strlen(name)) + 1, needed, "a name and its length");
    world = world || std::strcmp(name, "mpi://WORLD") == 0;
    self = self || std::strcmp(name, "mpi://SELF") == 0;
    length = 4;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    expect(std::strlen(name) == 3 && length == needed, "a cut name");
  }
  expect(world && self, "mpi://WORLD and mpi://SELF");
  MPI_Info info = MPI_INFO_NULL;
  MPI_Session_get_pset_info(session, "mpi://SELF", &info);
  char value[8];
  int room = sizeof value;
  int flag = 0;
  MPI_Info_get_string(info, "mpi_size", &room, value, &flag);
  expect(flag != 0 && std::strcmp(value, "1") == 0, "mpi_size");
  MPI_Info_free(&info);
  MPI_Group none = MPI_GROUP_EMPTY;
  MPI_Group_from_session_pset(session, "test://none", &none);
  expect(none == MPI_GROUP_NULL, "an unknown process set has no group");
  int length = 0;
  expect_class(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &length, nullptr),
               MPI_ERR_ARG, "there is no such set");
  expect_class(MPI_Session_get_pset_info(session, "test://none", &info), MPI_ERR_ARG,
               "an unknown process set");
}

void check_attributes(MPI_Comm comm) {
  int* limit = nullptr;
  int found = 0;
  MPI_Comm_get_attr(comm, MPI_TAG_UB, static_cast<void*>(&limit), &found);
  expect(found != 0 && *limit >= 32767, "MPI_TAG_UB of a communicator of a session");
}

void run_session(const char* tag) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  expect(session != MPI_SESSION_NULL, "a session");
  check_sets(session);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Session_get_info(session, &info);
  expect(info != MPI_INFO_NULL, "MPI_Session_get_info");
  char kinds[64] = "";
  int room = sizeof kinds;
  int found = 0;
  MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &room, kinds, &found);
  expect(found != 0 && std::strstr(kinds, "system") != nullptr, "kinds of memory");
  MPI_Info_free(&info);
  MPI_Comm world = comm_of(session, "mpi://WORLD", tag);
  MPI_Comm self = comm_of(session, "mpi://SELF", tag);
  check_works(world, "a world of a session");
  check_works(self, "a self of a session");
  check_attributes(world);
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Comm_dup(world, &dup);
  check_works(dup, "a duplicate of it");
  MPI_Comm_free(&dup);
  MPI_Comm_free(&world);
  MPI_Comm_free(&self);
  MPI_Session_finalize(&session);
  expect(session == MPI_SESSION_NULL, "the handle is null afterwards");
}

/// The key thread_level of the info (MPI 5.0 section 11.3.1) names one of the four levels.
void thread_levels() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED");
  MPI_Session session = MPI_SESSION_NULL;
  expect_class(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_SUCCESS, "a level");
  MPI_Session_finalize(&session);
  for (const char* wrong : {"nonsense", "MPI_THREAD", "1"}) {
    MPI_Info_set(info, "thread_level", wrong);
    const int code = MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
    expect_class(code, MPI_ERR_INFO_VALUE, wrong);
    expect(session == MPI_SESSION_NULL, wrong);
  }
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  thread_levels();
  run_session("before");
  int flag = 1;
  MPI_Initialized(&flag);
  expect(flag == 0, "a session does not initialise the world");
  MPI_Init(&argc, &argv);
  run_session("beside");
  check_works(MPI_COMM_WORLD, "the world survives a session");
  MPI_Session around = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &around);
  MPI_Finalize();
  MPI_Comm world = comm_of(around, "mpi://WORLD", "around");
  check_works(world, "a session that outlives the world");
  MPI_Comm_free(&world);
  MPI_Session_finalize(&around);
  run_session("after");
  MPI_Finalized(&flag);
  expect(flag != 0, "the world is finalized");
  return test::failures() == 0 ? 0 : 1;
}
