// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1
//
// Handles and statuses between C and Fortran (MPI 5.0, 19.3.4 and 19.3.5; the header
// fulmar/mpi_fortran_handles.h): every handle comes back, every field of a status arrives.
#include <mpi.h>
#include <stdio.h>

static int failures = 0;

static void check(int good, const char* what) {
  if (good) return;
  ++failures;
  printf("failed: %s\n", what);
}

static void check_null_and_predefined(void) {
  check(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL, "MPI_COMM_NULL");
  check(MPI_Comm_c2f(MPI_COMM_WORLD) == MPI_Comm_toint(MPI_COMM_WORLD), "MPI_COMM_WORLD");
  check(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN,
        "MPI_ERRORS_RETURN");
  check(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL, "MPI_FILE_NULL");
  check(MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY, "MPI_GROUP_EMPTY");
  check(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_ENV)) == MPI_INFO_ENV, "MPI_INFO_ENV");
  check(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC,
        "MPI_MESSAGE_NO_PROC");
  check(MPI_Op_f2c(MPI_Op_c2f(MPI_MAXLOC)) == MPI_MAXLOC, "MPI_MAXLOC");
  check(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL, "MPI_REQUEST_NULL");
  check(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL, "MPI_SESSION_NULL");
  check(MPI_Type_f2c(MPI_Type_c2f(MPI_REAL8)) == MPI_REAL8, "MPI_REAL8");
  check(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL, "MPI_WIN_NULL");
  check(MPI_Comm_f2c(-5) == MPI_COMM_NULL && MPI_Type_f2c(123456789) == MPI_DATATYPE_NULL,
        "numbers of nothing give null handles");
}

static void check_made(void) {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Request request;
  MPI_Info info;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, comm, &request);
  MPI_Info_create(&info);
  check(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm, "a communicator");
  check(PMPI_Comm_c2f(comm) == MPI_Comm_c2f(comm) && PMPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm,
        "a communicator by the names of tools");
  check(MPI_Type_f2c(MPI_Type_c2f(type)) == type, "a datatype");
  check(MPI_Request_f2c(MPI_Request_c2f(request)) == request, "a request");
  check(MPI_Info_f2c(MPI_Info_c2f(info)) == info, "an info object");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Info_free(&info);
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
}

static int same(const MPI_Status* a, const MPI_Status* b) {
  int i;
  int good = a->MPI_SOURCE == b->MPI_SOURCE && a->MPI_TAG == b->MPI_TAG;
  for (i = 0; i < 5; ++i) good = good && a->MPI_internal[i] == b->MPI_internal[i];
  return good && a->MPI_ERROR == b->MPI_ERROR;
}

/* A status of a real message goes all ways around and still says how much came. */
static void check_statuses(void) {
  const double sent[3] = {1, 2, 3};
  double received[5];
  MPI_Status status;
  MPI_Status back = {0};
  MPI_Fint words[MPI_F_STATUS_SIZE];
  MPI_Fint words_back[MPI_F_STATUS_SIZE];
  MPI_F08_status record;
  MPI_F08_status record_back;
  int count = 0;
  int i;
  MPI_Sendrecv(sent, 3, MPI_DOUBLE, 0, 77, received, 5, MPI_DOUBLE, 0, 77, MPI_COMM_WORLD, &status);
  status.MPI_ERROR = 21;
  check(MPI_Status_c2f(&status, words) == MPI_SUCCESS, "MPI_Status_c2f");
  check(words[MPI_F_SOURCE] == 0 && words[MPI_F_TAG] == 77 && words[MPI_F_ERROR] == 21,
        "the fields of a status in Fortran");
  check(MPI_Status_f2f08(words, &record) == MPI_SUCCESS, "MPI_Status_f2f08");
  check(record.MPI_SOURCE == 0 && record.MPI_TAG == 77 && record.MPI_ERROR == 21,
        "the fields of TYPE(MPI_Status)");
  check(MPI_Status_f082c(&record, &back) == MPI_SUCCESS && same(&status, &back), "f082c");
  MPI_Get_count(&back, MPI_DOUBLE, &count);
  check(count == 3, "the count of a status that has been in Fortran");
  check(MPI_Status_c2f08(&status, &record_back) == MPI_SUCCESS, "MPI_Status_c2f08");
  check(MPI_Status_f082f(&record_back, words_back) == MPI_SUCCESS, "MPI_Status_f082f");
  for (i = 0; i < MPI_F_STATUS_SIZE; ++i) check(words[i] == words_back[i], "a word of a status");
  back.MPI_TAG = 0;
  check(MPI_Status_f2c(words_back, &back) == MPI_SUCCESS && same(&status, &back), "f2c");
}

int main(int argc, char** argv) {
  check(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD, "before MPI_Init");
  MPI_Init(&argc, &argv);
  check_null_and_predefined();
  check_made();
  check_statuses();
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
