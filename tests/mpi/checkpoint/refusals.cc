// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
// env: FULMAR_ERRHANDLER=mpi_errors_return
// networks: tcp
//
// What a checkpoint cannot take with it is said in all ranks, also where one rank alone has it, and nothing has
// changed then. Calls between the two halves of a checkpoint, and one half without the other, are errors.
#include <mpi-ext.h>
#include <mpi.h>

#include <cstdio>
#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

void expect_refused(const char* word) {
  const int code = MPIX_Checkpoint_quiesce(MPI_INFO_NULL);
  expect_class(code, MPI_ERR_UNSUPPORTED_OPERATION, "refused");
  expect(text_of(code).find(word) != std::string::npos, text_of(code).c_str());
  expect_equal(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS, "a barrier after the refusal");
}

void with_window() {
  int cell = 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(&cell, sizeof cell, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  expect_refused("a window");
  MPI_Win_free(&win);
}

/// The last rank alone has it.
void with_file() {
  const int last = test::size_of(MPI_COMM_WORLD) - 1;
  MPI_File file = MPI_FILE_NULL;
  if (test::rank_of(MPI_COMM_WORLD) == last) {
    expect_equal(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                 MPI_SUCCESS, "open");
  }
  expect_refused(("rank " + std::to_string(last) + " has an open file").c_str());
  if (file != MPI_FILE_NULL) MPI_File_close(&file);
}

void with_port() {
  char name[MPI_MAX_PORT_NAME] = "";
  if (test::rank_of(MPI_COMM_WORLD) == 0) MPI_Open_port(MPI_INFO_NULL, name);
  expect_refused("rank 0 has an open port");
  if (test::rank_of(MPI_COMM_WORLD) == 0) MPI_Close_port(name);
}

void with_probed_message() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Mprobe(rank, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  expect_refused("a message of MPI_Mprobe");
  int got = -1;
  MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(got, rank, "the probed message");
}

void between() {
  expect_class(MPIX_Checkpoint_resume(MPI_INFO_NULL), MPI_ERR_OTHER, "resume without quiesce");
  expect_equal(MPIX_Checkpoint_quiesce(MPI_INFO_NULL), MPI_SUCCESS, "quiesce");
  const int code = MPI_Barrier(MPI_COMM_WORLD);
  expect_class(code, MPI_ERR_OTHER, "a barrier between");
  expect_class(MPIX_Checkpoint_quiesce(MPI_INFO_NULL), MPI_ERR_OTHER, "quiesce again");
  int flag = 0;
  MPI_Initialized(&flag);
  expect_equal(flag, 1, "MPI_Initialized");

  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "fulmar_launcher", "/nonexistent/launcher");
  expect_class(MPIX_Checkpoint_resume(info), MPI_ERR_OTHER, "a file that is not there");
  MPI_Info_free(&info);
  expect_equal(MPIX_Checkpoint_resume(MPI_INFO_NULL), MPI_SUCCESS, "resume after that");
  expect_equal(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS, "a barrier afterwards");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  with_window();
  with_file();
  with_port();
  with_probed_message();
  between();
  return test::finish();
}
