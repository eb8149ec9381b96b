// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
//
// What a program of another MPI hands to MPI: reductions, attributes, error handlers, generalized requests. They get
// the handles, statuses and codes of that ABI.
#include <cstring>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

MPI_Datatype seen_type = MPI_DATATYPE_NULL;

void add(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  seen_type = *datatype;
  for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

void reductions() {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  const int size = test::size_of(MPI_COMM_WORLD);
  int value = test::rank_of(MPI_COMM_WORLD) + 1;
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  expect_equal(sum, size * (size + 1) / 2, "a sum of the program's own");
  int inout = 5;
  MPI_Reduce_local(&value, &inout, 1, MPI_INT, op);
  expect_equal(inout, 5 + value, "a local sum");
  expect(seen_type == MPI_INT, "the function sees MPI_INT");
  MPI_Datatype pair;
  MPI_Type_contiguous(1, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Reduce_local(&value, &inout, 1, pair, op);
  expect(seen_type == pair, "the function sees the datatype of the program");
  MPI_Type_free(&pair);
  MPI_Op_free(&op);
  expect(op == MPI_OP_NULL, "the operation is freed");
}

int copies;
int deletions;
MPI_Comm copied = MPI_COMM_NULL;

int copy(MPI_Comm comm, int, void* extra, void* in, void* out, int* flag) {
  ++copies;
  copied = comm;
  *static_cast<void**>(out) = static_cast<char*>(in) + *static_cast<int*>(extra);
  *flag = 1;
  return MPI_SUCCESS;
}
int remove(MPI_Comm, int, void*, void*) {
  ++deletions;
  return MPI_SUCCESS;
}
int refuse(MPI_Comm, int, void*, void*, void*, int*) { return MPI_ERR_KEYVAL; }

void attributes() {
  static char text[8];
  int step = 3;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy, remove, &key, &step);
  expect(key != MPI_KEYVAL_INVALID, "a key");
  MPI_Comm_set_attr(MPI_COMM_SELF, key, text);
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_SELF, &twin);
  void* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(twin, key, &value, &flag);
  expect(flag != 0 && value == text + 3, "the copy");
  expect(copied == MPI_COMM_SELF, "the function sees MPI_COMM_SELF");
  MPI_Comm_free(&twin);
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  expect(copies == 1 && deletions == 2, "each function was called");
  MPI_Comm_free_keyval(&key);
  expect_equal(key, MPI_KEYVAL_INVALID, "the key is freed");
  MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, text);
  expect_class(MPI_Comm_dup(MPI_COMM_SELF, &twin), MPI_ERR_KEYVAL, "a function that refuses");
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, text);
  MPI_Comm_dup(MPI_COMM_SELF, &twin);
  MPI_Comm_get_attr(twin, key, &value, &flag);
  expect(flag != 0 && value == text, "MPI_COMM_DUP_FN");
  MPI_Comm_free(&twin);
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  MPI_Comm_free_keyval(&key);
}

void predefined_attributes() {
  void* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  expect(flag != 0 && *static_cast<int*>(value) >= 32767, "MPI_TAG_UB");
  int memory = 0;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
  expect(flag != 0 && *static_cast<int*>(value) == MPI_WIN_FLAVOR_CREATE, "the flavor");
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
  const int model = *static_cast<int*>(value);
  expect(flag != 0 && (model == MPI_WIN_UNIFIED || model == MPI_WIN_SEPARATE), "the memory model");
  MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
  expect(flag != 0 && value == &memory, "the base");
  MPI_Win_free(&win);
}

int handled_class;
MPI_Comm handled_comm = MPI_COMM_NULL;
void handle(MPI_Comm* comm, int* code, ...) {
  handled_comm = *comm;
  MPI_Error_class(*code, &handled_class);
}

void error_handlers() {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  int value = 0;
  const int code = MPI_Send(&value, 1, MPI_INT, 12345, 0, MPI_COMM_WORLD);
  expect_class(code, MPI_ERR_RANK, "the code of the call");
  expect_equal(handled_class, MPI_ERR_RANK, "the class in the handler");
  expect(handled_comm == MPI_COMM_WORLD, "the handler sees MPI_COMM_WORLD");
  MPI_Errhandler found;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
  expect(found == handler, "the handler");
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
  expect(found == MPI_ERRORS_RETURN, "MPI_ERRORS_RETURN");
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
}

struct Progress {
  int queries = 0;
  int frees = 0;
  int cancels = 0;
};
int query(void* state, MPI_Status* status) {
  ++static_cast<Progress*>(state)->queries;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 1);
  status->MPI_SOURCE = MPI_PROC_NULL;
  status->MPI_TAG = 44;
  return MPI_SUCCESS;
}
int release(void* state) {
  ++static_cast<Progress*>(state)->frees;
  return MPI_SUCCESS;
}
int cancel(void* state, int) {
  ++static_cast<Progress*>(state)->cancels;
  return MPI_SUCCESS;
}

void generalized_requests() {
  Progress progress;
  MPI_Request request;
  MPI_Grequest_start(query, release, cancel, &progress, &request);
  MPI_Cancel(&request);
  MPI_Grequest_complete(request);
  MPI_Status status;
  MPI_Wait(&request, &status);
  int count = 0;
  int flag = 0;
  MPI_Get_elements(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &flag);
  expect_equal(count, 3, "elements that the program set");
  expect(flag != 0, "cancelled by the program");
  expect_equal(status.MPI_SOURCE, MPI_PROC_NULL, "the source that the program set");
  expect_equal(status.MPI_TAG, 44, "the tag that the program set");
  expect(progress.queries == 1 && progress.frees == 1 && progress.cancels == 1,
         "each function was called");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  expect(provided == MPI_THREAD_SERIALIZED || provided == MPI_THREAD_MULTIPLE, "the thread level");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  reductions();
  attributes();
  predefined_attributes();
  error_handlers();
  generalized_requests();
  MPI_Finalize();
  return test::failures() == 0 ? 0 : 1;
}
