// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Calls of the members of a group, and MPI_Comm_idup, with an argument that is wrong in one rank: they
// fail in all, no rank waits, and the next call works.
// ranks: 1 2 4

#include <mpi.h>

#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;

constexpr int tag = 3;

bool last = false;
int others_class = MPI_ERR_OTHER;  ///< of those whose arguments are right

void expect_failed(int code, int own_class, MPI_Comm made, const char* call) {
  expect_class(code, last ? own_class : others_class, call);
  expect(made == MPI_COMM_NULL, call);
}

/// A communicator of all can be made, and used.
void expect_works(MPI_Comm made, const char* call) {
  expect(made != MPI_COMM_NULL, call);
  int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
  test::expect_equal(sum, test::size_of(MPI_COMM_WORLD), call);
  MPI_Comm_free(&made);
}

MPI_Info freed_info() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  const MPI_Info freed = info;
  MPI_Info_free(&info);
  return freed;
}

void create_group(MPI_Group group) {
  MPI_Comm made = MPI_COMM_NULL;
  for (int i = 0; i < 3; ++i) {
    expect_failed(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, last ? nullptr : &made),
                  MPI_ERR_ARG, made, "MPI_Comm_create_group");
  }
  expect_class(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &made), MPI_SUCCESS,
               "MPI_Comm_create_group");
  expect_works(made, "MPI_Comm_create_group");
  // The group cannot be guessed, nor can the tag: only the rank that is wrong gets an error.
  made = MPI_COMM_NULL;
  if (last) {
    expect_class(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, tag, &made), MPI_ERR_GROUP,
                 "MPI_Comm_create_group of no group");
    expect_class(MPI_Comm_create_group(MPI_COMM_WORLD, group, -1, &made), MPI_ERR_TAG,
                 "MPI_Comm_create_group by a wrong tag");
  }
}

void create_from_group(MPI_Group group) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Errhandler file_handler = MPI_ERRHANDLER_NULL;
  MPI_File_get_errhandler(MPI_FILE_NULL, &file_handler);
  const auto create = [&](MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* out) {
    return MPI_Comm_create_from_group(group, "test", info, errhandler, out);
  };
  expect_failed(create(last ? freed_info() : MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_ERR_INFO,
                made, "MPI_Comm_create_from_group with no info");
  expect_failed(create(MPI_INFO_NULL, last ? MPI_ERRHANDLER_NULL : MPI_ERRORS_RETURN, &made),
                MPI_ERR_ERRHANDLER, made, "MPI_Comm_create_from_group with no error handler");
  expect_failed(create(MPI_INFO_NULL, MPI_ERRORS_RETURN, last ? nullptr : &made), MPI_ERR_ARG, made,
                "MPI_Comm_create_from_group into nothing");
  expect_class(create(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_SUCCESS,
               "MPI_Comm_create_from_group");
  expect_works(made, "MPI_Comm_create_from_group");
  MPI_Errhandler_free(&file_handler);
}

/// The rank that is wrong gets no request; those of the others end with the error.
void idup() {
  for (int i = 0; i < 3; ++i) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Comm_idup(MPI_COMM_WORLD, last && i == 0 ? nullptr : &made,
                             last && i == 1 ? nullptr : &request);
    if (last && i < 2) {
      expect_class(code, MPI_ERR_ARG, "MPI_Comm_idup");
      expect(request == MPI_REQUEST_NULL && made == MPI_COMM_NULL, "MPI_Comm_idup");
      continue;
    }
    expect_class(code, MPI_SUCCESS, "MPI_Comm_idup");
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_class(code, i == 2 ? MPI_SUCCESS : others_class, "MPI_Wait for MPI_Comm_idup");
    if (i == 2) expect_works(made, "MPI_Comm_idup");
    if (i < 2) expect(made == MPI_COMM_NULL, "MPI_Comm_idup");
  }
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      MPI_Comm_idup_with_info(MPI_COMM_WORLD, last ? freed_info() : MPI_INFO_NULL, &made, &request);
  expect_class(code, last ? MPI_ERR_INFO : MPI_SUCCESS, "MPI_Comm_idup_with_info");
  if (!last) {
    expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), others_class,
                 "MPI_Wait for MPI_Comm_idup_with_info");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A rank that names no leader, or another one than the others, gets an error; the other group gets it, too.
void leaders() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  if (test::size_of(MPI_COMM_WORLD) < 4) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, 0, &half);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  for (const int wrong : {-1, 77, 1}) {
    const int code =
        MPI_Intercomm_create(half, last ? wrong : 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &inter);
    expect_failed(code, MPI_ERR_RANK, inter, "MPI_Intercomm_create");
  }
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Group other = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(half, &own);
  MPI_Group_difference(world, own, &other);
  const auto create = [&](int leader, MPI_Info info) {
    return MPI_Intercomm_create_from_groups(own, leader, other, 0, "inter", info, MPI_ERRORS_RETURN,
                                            &inter);
  };
  for (const int wrong : {-1, 77, 1}) {
    expect_failed(create(last ? wrong : 0, MPI_INFO_NULL), MPI_ERR_RANK, inter,
                  "MPI_Intercomm_create_from_groups");
  }
  expect_failed(create(0, last ? freed_info() : MPI_INFO_NULL), MPI_ERR_INFO, inter,
                "MPI_Intercomm_create_from_groups with no info");
  expect_class(create(0, MPI_INFO_NULL), MPI_SUCCESS, "MPI_Intercomm_create_from_groups");
  MPI_Comm_free(&inter);
  expect_class(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &inter),
               MPI_SUCCESS, "MPI_Intercomm_create");
  MPI_Comm_free(&inter);
  for (MPI_Group* group : {&world, &own, &other}) MPI_Group_free(group);
  MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  last = test::rank_of(MPI_COMM_WORLD) == test::size_of(MPI_COMM_WORLD) - 1;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  create_group(group);
  create_from_group(group);
  idup();
  MPI_Group_free(&group);
  leaders();
  return test::finish();
}
