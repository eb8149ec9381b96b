// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1
//
// Handles as integers (MPI 5.0, 20.3.4), and what belongs to windows and files but needs neither:
// keyvals, error handlers, MPI_FILE_NULL (9.3.2 and 9.3.3).
#include <mpi.h>

#include <cstring>
#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

/// A handle and its way to an int and back.
template <class Handle>
void both_ways(Handle handle, int (*to_int)(Handle), Handle (*from_int)(int), const char* what) {
  const int number = to_int(handle);
  expect(from_int(number) == handle, what);
  expect_equal(to_int(from_int(number)), number, what);
}

template <class Handle>
void predefined(Handle handle, int value, int (*to_int)(Handle), Handle (*from_int)(int),
                const char* what) {
  expect_equal(to_int(handle), value, what);
  both_ways(handle, to_int, from_int, what);
}

template <class Handle>
void made(Handle handle, int (*to_int)(Handle), Handle (*from_int)(int), const char* what) {
  expect(to_int(handle) > 4095, what);
  both_ways(handle, to_int, from_int, what);
}

void constants() {
  predefined(MPI_COMM_NULL, 0x100, MPI_Comm_toint, MPI_Comm_fromint, "MPI_COMM_NULL");
  predefined(MPI_COMM_WORLD, 0x101, MPI_Comm_toint, MPI_Comm_fromint, "MPI_COMM_WORLD");
  predefined(MPI_COMM_SELF, 0x102, MPI_Comm_toint, MPI_Comm_fromint, "MPI_COMM_SELF");
  predefined(MPI_GROUP_NULL, 0x108, MPI_Group_toint, MPI_Group_fromint, "MPI_GROUP_NULL");
  predefined(MPI_WIN_NULL, 0x110, MPI_Win_toint, MPI_Win_fromint, "MPI_WIN_NULL");
  predefined(MPI_FILE_NULL, 0x118, MPI_File_toint, MPI_File_fromint, "MPI_FILE_NULL");
  predefined(MPI_SESSION_NULL, 0x120, MPI_Session_toint, MPI_Session_fromint, "MPI_SESSION_NULL");
  predefined(MPI_MESSAGE_NULL, 0x128, MPI_Message_toint, MPI_Message_fromint, "MPI_MESSAGE_NULL");
  predefined(MPI_INFO_NULL, 0x130, MPI_Info_toint, MPI_Info_fromint, "MPI_INFO_NULL");
  predefined(MPI_ERRHANDLER_NULL, 0x140, MPI_Errhandler_toint, MPI_Errhandler_fromint,
             "MPI_ERRHANDLER_NULL");
  predefined(MPI_REQUEST_NULL, 0x180, MPI_Request_toint, MPI_Request_fromint, "MPI_REQUEST_NULL");
  predefined(MPI_BYTE, 0x247, MPI_Type_toint, MPI_Type_fromint, "MPI_BYTE");
  predefined(MPI_OP_NULL, 0x20, MPI_Op_toint, MPI_Op_fromint, "MPI_OP_NULL");
  predefined(MPI_SUM, 0x21, MPI_Op_toint, MPI_Op_fromint, "MPI_SUM");
}

void on_comm_error(MPI_Comm* /*comm*/, int* /*code*/, ...) {}
void on_win_error(MPI_Win* /*win*/, int* /*code*/, ...) {}

void objects() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Session session = MPI_SESSION_NULL;
  int value = 0;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_group(comm, &group);
  MPI_Info_create(&info);
  MPI_Comm_create_errhandler(on_comm_error, &handler);
  MPI_Irecv(&value, 1, MPI_INT, 0, 0, comm, &request);
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 0, &op);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  made(comm, MPI_Comm_toint, MPI_Comm_fromint, "communicator");
  made(group, MPI_Group_toint, MPI_Group_fromint, "group");
  made(info, MPI_Info_toint, MPI_Info_fromint, "info");
  made(handler, MPI_Errhandler_toint, MPI_Errhandler_fromint, "error handler");
  made(request, MPI_Request_toint, MPI_Request_fromint, "request");
  made(type, MPI_Type_toint, MPI_Type_fromint, "datatype");
  made(op, MPI_Op_toint, MPI_Op_fromint, "operation");
  made(session, MPI_Session_toint, MPI_Session_fromint, "session");
  // The handle that comes back is of use.
  int commutes = -1;
  expect_equal(MPI_Op_commutative(MPI_Op_fromint(MPI_Op_toint(op)), &commutes), MPI_SUCCESS, "op");
  expect_equal(commutes, 0, "an operation that does not commute");
  MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_Comm_fromint(MPI_Comm_toint(comm)));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Session_finalize(&session);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Errhandler_free(&handler);
  MPI_Info_free(&info);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
}

int deleted = 0;

int on_delete(MPI_Win /*win*/, int /*keyval*/, void* /*value*/, void* /*state*/) {
  ++deleted;
  return MPI_SUCCESS;
}

void window_keyvals() {
  int first = MPI_KEYVAL_INVALID;
  int second = MPI_KEYVAL_INVALID;
  expect_equal(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &first, nullptr), MPI_SUCCESS,
               "keyval of windows");
  expect_equal(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &second, nullptr),
               MPI_SUCCESS, "keyval of windows");
  expect(first != MPI_KEYVAL_INVALID && first != second, "each has its own value");
  // A keyval of windows is none of communicators.
  expect_class(MPI_Comm_set_attr(MPI_COMM_SELF, first, nullptr), MPI_ERR_KEYVAL, "other kind");
  int wrong = first;
  expect_class(MPI_Comm_free_keyval(&wrong), MPI_ERR_KEYVAL, "other kind");
  int old = first;
  expect_equal(MPI_Win_free_keyval(&first), MPI_SUCCESS, "free");
  expect_equal(first, MPI_KEYVAL_INVALID, "a freed keyval is invalid");
  expect_class(MPI_Win_free_keyval(&old), MPI_ERR_KEYVAL, "freed twice");
  MPI_Win_free_keyval(&second);
  expect_equal(deleted, 0, "there is no window");
}

int file_errors = 0;
MPI_File file_seen = MPI_FILE_NULL;

void on_file_error(MPI_File* file, int* /*code*/, ...) {
  ++file_errors;
  file_seen = *file;
}

void file_handlers() {
  MPI_Errhandler standard = MPI_ERRHANDLER_NULL;
  expect_equal(MPI_File_get_errhandler(MPI_FILE_NULL, &standard), MPI_SUCCESS, "get");
  expect(standard == MPI_ERRORS_RETURN, "files start with MPI_ERRORS_RETURN");
  MPI_Errhandler ours = MPI_ERRHANDLER_NULL;
  expect_equal(MPI_File_create_errhandler(on_file_error, &ours), MPI_SUCCESS, "create");
  expect_equal(MPI_File_set_errhandler(MPI_FILE_NULL, ours), MPI_SUCCESS, "set");
  MPI_Errhandler now = MPI_ERRHANDLER_NULL;
  MPI_File_get_errhandler(MPI_FILE_NULL, &now);
  expect(now == ours, "what was set");
  MPI_Errhandler_free(&now);
  expect_equal(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE), MPI_SUCCESS, "call");
  expect_equal(file_errors, 1, "the handler was called");
  expect(file_seen == MPI_FILE_NULL, "with MPI_FILE_NULL");
  // A handler of files serves nothing else, and the reverse.
  expect_class(MPI_Comm_set_errhandler(MPI_COMM_SELF, ours), MPI_ERR_ERRHANDLER, "other kind");
  MPI_Errhandler of_windows = MPI_ERRHANDLER_NULL;
  expect_equal(MPI_Win_create_errhandler(on_win_error, &of_windows), MPI_SUCCESS,
               "handler of windows");
  file_errors = 0;
  expect_class(MPI_File_set_errhandler(MPI_FILE_NULL, of_windows), MPI_ERR_ERRHANDLER,
               "other kind");
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&of_windows);
  MPI_Errhandler_free(&ours);
  expect(ours == MPI_ERRHANDLER_NULL, "a freed handler is null");
}

void statuses() {
  MPI_Status status;
  std::memset(&status, 0x5a, sizeof status);
  expect_equal(MPI_Status_set_source(&status, 3), MPI_SUCCESS, "source");
  expect_equal(MPI_Status_set_tag(&status, 17), MPI_SUCCESS, "tag");
  expect_equal(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE), MPI_SUCCESS, "error");
  expect_equal(MPI_Status_set_elements(&status, MPI_INT, 5), MPI_SUCCESS, "elements");
  expect_equal(MPI_Status_set_cancelled(&status, 1), MPI_SUCCESS, "cancelled");
  int value = 0;
  expect(status.MPI_SOURCE == 3 && status.MPI_TAG == 17 && status.MPI_ERROR == MPI_ERR_TRUNCATE,
         "fields");
  MPI_Status_get_source(&status, &value);
  expect_equal(value, 3, "source");
  MPI_Status_get_tag(&status, &value);
  expect_equal(value, 17, "tag");
  MPI_Status_get_error(&status, &value);
  expect_equal(value, MPI_ERR_TRUNCATE, "error");
  MPI_Test_cancelled(&status, &value);
  expect_equal(value, 1, "cancelled");
  MPI_Get_count(&status, MPI_INT, &value);
  expect_equal(value, 5, "count");
  MPI_Status_set_cancelled(&status, 0);
  MPI_Test_cancelled(&status, &value);
  expect_equal(value, 0, "not cancelled");
  MPI_Get_elements(&status, MPI_INT, &value);
  expect_equal(value, 5, "elements stay");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  constants();
  objects();
  window_keyvals();
  file_handlers();
  statuses();
  return test::finish();
}
