// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The error of a non-blocking access is raised on the file, whichever call tells of it, and so is that of a call
// that does not go with such a request.
// ranks: 1 2

#include <mpi.h>

#include "support/files.h"

namespace {

using namespace test;  // NOLINT: most of it is used here

int handled = 0;
void count_error(MPI_File* /*file*/, int* /*code*/, ...) { ++handled; }

/// Calls that look at a request raise the error of a file operation on the file.
void a_failed_request_is_the_files(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_SELF, folder.file("."), MPI_MODE_RDONLY);  // cannot be read
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(count_error, &handler);
  MPI_File_set_errhandler(file, handler);
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  succeeds(MPI_File_iread_at(file, 0, &value, 1, MPI_INT, &request), "iread_at");
  handled = 0;
  int flag = 0;
  int code = MPI_SUCCESS;
  while (flag == 0) code = MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  expect_class(code, MPI_ERR_BAD_FILE, "MPI_Request_get_status");
  expect_equal(handled, 1, "handled by the file");
  int index = 0;
  code = MPI_Request_get_status_any(1, &request, &index, &flag, MPI_STATUS_IGNORE);
  expect_class(code, MPI_ERR_BAD_FILE, "MPI_Request_get_status_any");
  expect_equal(handled, 2, "handled by the file, too");
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_BAD_FILE, "MPI_Wait");
  expect_equal(handled, 3, "so is that");
  MPI_Errhandler_free(&handler);
  succeeds(MPI_File_close(&file), "close");
}

/// Such a request can be neither started nor cancelled.
void a_misused_request_is_the_files(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_SELF, folder.file("."), MPI_MODE_RDONLY);  // cannot be read
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(count_error, &handler);
  MPI_File_set_errhandler(file, handler);
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  succeeds(MPI_File_iread_at(file, 0, &value, 1, MPI_INT, &request), "iread_at");
  handled = 0;
  expect_class(MPI_Start(&request), MPI_ERR_REQUEST, "MPI_Start");
  expect_equal(handled, 1, "MPI_Start, handled by the file");
  expect_class(MPI_Cancel(&request), MPI_ERR_REQUEST, "MPI_Cancel");
  expect_equal(handled, 2, "MPI_Cancel, handled by the file");
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_BAD_FILE, "it is as it was");
  MPI_Errhandler_free(&handler);
  succeeds(MPI_File_close(&file), "close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Folder folder;
    a_failed_request_is_the_files(folder);
    a_misused_request_is_the_files(folder);
  }
  return test::finish();
}
