// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Process sets of a session beyond mpi://: nodes, the parents, and jobs that were met; their groups make
// communicators; a set keeps its number, and is invalid when the last communicator is freed.
// ranks: 1 3

#include <mpi.h>

#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::rank_of;
using test::size_of;

std::vector<std::string> names_of(MPI_Session session) {
  int count = 0;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    char name[MPI_MAX_PSET_NAME_LEN];
    int length = sizeof name;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    names.emplace_back(name);
  }
  return names;
}

MPI_Group group_of(MPI_Session session, const std::string& name) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group_from_session_pset(session, name.c_str(), &group);
  return group;
}

int size_of_set(MPI_Session session, const std::string& name) {
  MPI_Group group = group_of(session, name);
  if (group == MPI_GROUP_NULL) return -1;
  int size = -1;
  MPI_Group_size(group, &size);
  MPI_Group_free(&group);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Session_get_pset_info(session, name.c_str(), &info);
  char text[16] = "";
  int room = sizeof text;
  int found = 0;
  MPI_Info_get_string(info, "mpi_size", &room, text, &found);
  MPI_Info_free(&info);
  expect(std::to_string(size) == text, "mpi_size is the size of the group");
  return size;
}

void check_nodes(MPI_Session session) {
  int processes = 0;
  for (const std::string& name : names_of(session)) {
    if (name.starts_with("fulmar://node/")) processes += size_of_set(session, name);
  }
  expect_equal(processes, size_of(MPI_COMM_WORLD), "each process is on one node");
  expect(size_of_set(session, "FULMAR://Node/0") > 0, "names in capitals");
  for (const char* name : {"fulmar://node/", "fulmar://node/0x", "fulmar://node/4000000000",
                           "fulmar://job/zz", "fulmar://job/1", "fulmar://other"}) {
    expect(group_of(session, name) == MPI_GROUP_NULL, name);
  }
}

/// One communicator of parents and children, from the groups of sets alone.
void check_union(MPI_Session session, const std::string& parents, const std::string& children) {
  MPI_Group first = group_of(session, parents);
  MPI_Group second = group_of(session, children);
  MPI_Group both = MPI_GROUP_NULL;
  MPI_Group_union(first, second, &both);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_create_from_group(both, "both", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  const int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  int size = 0;
  MPI_Group_size(both, &size);
  expect_equal(sum, size, "the sum over both jobs");
  MPI_Comm_free(&comm);
  MPI_Group_free(&both);
  MPI_Group_free(&second);
  MPI_Group_free(&first);
}

/// Both sides; each disconnects `inter`, its last communicator with the other.
void check_jobs(MPI_Session session, MPI_Comm inter, bool is_child) {
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  const std::vector<std::string> names = names_of(session);
  std::string job;
  bool has_parent = false;
  for (const std::string& name : names) {
    if (name.starts_with("fulmar://job/")) job = name;
    has_parent = has_parent || name == "fulmar://parent";
  }
  expect_equal(size_of_set(session, job), others, "the processes of the other job");
  expect_equal(has_parent ? 1 : 0, is_child ? 1 : 0, "children have a parent");
  if (is_child) {
    expect_equal(size_of_set(session, "fulmar://parent"), others, "the parents");
    MPI_Group group = group_of(session, "fulmar://parent");
    int rank = 0;
    MPI_Group_rank(group, &rank);
    expect_equal(rank, MPI_UNDEFINED, "a child is no parent");
    MPI_Group_free(&group);
    check_union(session, "fulmar://parent", "mpi://WORLD");
  } else {
    check_union(session, "mpi://WORLD", job);
  }
  MPI_Comm_disconnect(&inter);
  expect(group_of(session, job) == MPI_GROUP_NULL, "a job after the last communicator");
  MPI_Info info = MPI_INFO_NULL;
  expect_class(MPI_Session_get_pset_info(session, job.c_str(), &info), MPI_ERR_ARG,
               "the info of a set that is no more");
  expect(names_of(session) == names, "the numbers of the sets");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  check_nodes(session);
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_get_parent(&inter);
  const bool is_child = inter != MPI_COMM_NULL;
  if (!is_child) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
  }
  check_jobs(session, inter, is_child);
  MPI_Session_finalize(&session);
  return test::finish();
}
