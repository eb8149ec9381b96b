// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Calls that make a communicator with an argument that is wrong in one rank: they fail in all of
// them, no rank waits, and the old communicator can still be used.
// ranks: 1 2 4

#include <mpi.h>

#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;

bool last = false;

/// The last rank has an error of its own, the others say that it failed, because of its arguments.
void expect_failed(int code, int own_class, MPI_Comm made, const char* call) {
  expect_class(code, last ? own_class : MPI_ERR_OTHER, call);
  expect(made == MPI_COMM_NULL, call);
  if (!last) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    const std::string rank = "rank " + std::to_string(test::size_of(MPI_COMM_WORLD) - 1);
    expect(std::string(text).find(rank) != std::string::npos, call);
    char reason[MPI_MAX_ERROR_STRING] = {};
    MPI_Error_string(MPI_ERR_ARG, reason, &length);
    expect(std::string(text).find(reason) != std::string::npos,
           (std::string(text) + ": " + reason).c_str());
  }
  MPI_Comm copy = MPI_COMM_NULL;
  expect_class(MPI_Comm_dup(MPI_COMM_WORLD, &copy), MPI_SUCCESS, "the next communicator");
  int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
  test::expect_equal(sum, test::size_of(MPI_COMM_WORLD), call);
  MPI_Comm_free(&copy);
}

void run() {
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_Comm_split(world, last ? -5 : 0, 0, &made);
  expect_failed(code, MPI_ERR_ARG, made, "MPI_Comm_split");
  code = MPI_Comm_split(world, 0, 0, last ? nullptr : &made);
  expect_failed(code, MPI_ERR_ARG, made, "MPI_Comm_split into nothing");
  code = MPI_Comm_dup(world, last ? nullptr : &made);
  expect_failed(code, MPI_ERR_ARG, made, "MPI_Comm_dup");
  MPI_Info freed = MPI_INFO_NULL;
  MPI_Info_create(&freed);
  MPI_Info info = freed;
  MPI_Info_free(&freed);
  code = MPI_Comm_dup_with_info(world, last ? info : MPI_INFO_NULL, &made);
  expect_failed(code, MPI_ERR_INFO, made, "MPI_Comm_dup_with_info");
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(world, &group);
  code = MPI_Comm_create(world, last ? MPI_GROUP_NULL : group, &made);
  expect_failed(code, MPI_ERR_GROUP, made, "MPI_Comm_create");
  MPI_Group_free(&group);
  code = MPI_Comm_split_type(world, last ? -77 : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  expect_failed(code, MPI_ERR_ARG, made, "MPI_Comm_split_type");
}

void merge() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  if (test::size_of(MPI_COMM_WORLD) == 1) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  // The last rank is a leader where there are two. The other group hears of it, too.
  const bool is_leader = test::rank_of(half) == 0;
  for (const bool wrong_tag : {true, false}) {
    if (wrong_tag && test::size_of(MPI_COMM_WORLD) == 2) continue;
    expect(!last || !wrong_tag || !is_leader, "who has the wrong tag");
    const int code =
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, last && wrong_tag ? -1 : 5,
                             last && !wrong_tag ? nullptr : &inter);
    expect_class(code,
                 !last       ? MPI_ERR_OTHER
                 : wrong_tag ? MPI_ERR_TAG
                             : MPI_ERR_ARG,
                 "MPI_Intercomm_create");
    expect(inter == MPI_COMM_NULL, "MPI_Intercomm_create");
  }
  const bool leads = test::rank_of(half) == 0;
  const int code =
      MPI_Intercomm_create(half, 0, leads ? MPI_COMM_NULL : MPI_COMM_WORLD, 0, 5, &inter);
  expect_class(code, leads ? MPI_ERR_COMM : MPI_ERR_OTHER, "MPI_Intercomm_create without a peer");
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  expect(std::string(text).find("peer_comm") != std::string::npos,
         (std::string("why the leader has failed: ") + text).c_str());
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  expect_class(MPI_Intercomm_merge(inter, 0, last ? nullptr : &merged),
               last ? MPI_ERR_ARG : MPI_ERR_OTHER, "MPI_Intercomm_merge");
  expect(merged == MPI_COMM_NULL, "MPI_Intercomm_merge");
  expect_class(MPI_Intercomm_merge(inter, 0, &merged), MPI_SUCCESS, "the next one");
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  last = test::rank_of(MPI_COMM_WORLD) == test::size_of(MPI_COMM_WORLD) - 1;
  run();
  merge();
  return test::finish();
}
