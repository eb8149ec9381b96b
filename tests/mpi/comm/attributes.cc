// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 3
//
// Attributes whose key was freed, functions of the user that fail, and the order at the end of MPI
// (MPI 5.0, 7.7 and 11.2.2).

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

void* number(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

/// The value of an attribute, or 0.
std::uintptr_t value_of(MPI_Comm comm, int key) {
  void* value = nullptr;
  int found = 0;
  expect_equal(MPI_Comm_get_attr(comm, key, static_cast<void*>(&value), &found), MPI_SUCCESS,
               "get of an attribute");
  return found != 0 ? reinterpret_cast<std::uintptr_t>(value) : 0;
}

std::vector<std::uintptr_t> deleted;

int copy_plus_one(MPI_Comm /*comm*/, int /*key*/, void* /*extra*/, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = number(reinterpret_cast<std::uintptr_t>(in) + 1);
  *flag = 1;
  return MPI_SUCCESS;
}
int note(MPI_Comm /*comm*/, int /*key*/, void* value, void* /*extra*/) {
  deleted.push_back(reinterpret_cast<std::uintptr_t>(value));
  return MPI_SUCCESS;
}
int note_and_free(MPI_Comm comm, int key, void* value, void* extra) {
  expect_equal(MPI_Comm_free_keyval(&key), MPI_SUCCESS, "free in the delete function");
  return note(comm, key, value, extra);
}
int fail_to_copy(MPI_Comm /*comm*/, int /*key*/, void* /*extra*/, void* /*in*/, void* /*out*/,
                 int* /*flag*/) {
  return MPI_ERR_INTERN;
}

void freed_key() {
  deleted.clear();
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy_plus_one, note, &key, nullptr);
  MPI_Comm first = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_attr(first, key, number(10));
  const int copy = key;
  expect_equal(MPI_Comm_free_keyval(&key), MPI_SUCCESS, "free of a key in use");
  expect_equal(key, MPI_KEYVAL_INVALID, "the variable");
  MPI_Comm second = MPI_COMM_NULL;
  MPI_Comm_dup(first, &second);
  expect_equal(value_of(second, copy), 11, "attributes with a freed key are copied");
  expect_equal(value_of(first, copy), 10, "and found");
  expect_equal(value_of(MPI_COMM_WORLD, copy), 0, "where they are set");
  expect_equal(MPI_Comm_delete_attr(first, copy), MPI_SUCCESS, "and deleted one by one");
  expect(deleted == std::vector<std::uintptr_t>{10}, "the delete function ran");
  expect_class(MPI_Comm_set_attr(first, copy, number(1)), MPI_ERR_KEYVAL, "no new ones");
  MPI_Comm_free(&second);
  expect(deleted == std::vector<std::uintptr_t>{10, 11}, "with the communicator");
  expect_class(MPI_Comm_delete_attr(first, copy), MPI_ERR_KEYVAL, "the last one took the key");
  MPI_Comm_free(&first);
}

void freed_several_times() {
  deleted.clear();
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_and_free, &key, nullptr);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_attr(comm, key, number(1));
  MPI_Comm_set_attr(other, key, number(2));
  expect_equal(MPI_Comm_free(&comm), MPI_SUCCESS, "a delete function that frees the key");
  expect_equal(MPI_Comm_free_keyval(&key), MPI_SUCCESS, "free of a key that is still in use");
  expect_equal(MPI_Comm_free(&other), MPI_SUCCESS, "the last use");
  expect(deleted == std::vector<std::uintptr_t>{1, 2}, "both were deleted");
}

void failing_copy() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(fail_to_copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm first = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_attr(first, key, number(1));
  MPI_Comm copy = MPI_COMM_WORLD;
  expect_class(MPI_Comm_dup(first, &copy), MPI_ERR_INTERN, "the error of the copy function");
  expect(copy == MPI_COMM_NULL, "there is no copy");
  MPI_Comm_delete_attr(first, key);
  MPI_Comm_free(&first);
  MPI_Comm_free_keyval(&key);

  MPI_Type_create_keyval(
      [](MPI_Datatype, int, void*, void*, void*, int*) -> int { return MPI_ERR_INTERN; },
      MPI_TYPE_NULL_DELETE_FN, &key, nullptr);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_set_attr(type, key, number(1));
  MPI_Datatype twin = MPI_INT;
  expect_class(MPI_Type_dup(type, &twin), MPI_ERR_INTERN, "the error of the copy function");
  expect(twin == MPI_DATATYPE_NULL, "there is no copy");
  MPI_Type_free(&type);
  MPI_Type_free_keyval(&key);
}

/// Set on MPI_COMM_SELF, deleted in MPI_Finalize in the reverse order.
void at_the_end() {
  deleted.clear();
  for (std::uintptr_t i = 1; i <= 3; ++i) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, number(i));
    MPI_Comm_free_keyval(&key);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  freed_key();
  freed_several_times();
  failing_copy();
  at_the_end();
  MPI_Finalize();
  expect(deleted == std::vector<std::uintptr_t>{3, 2, 1}, "the last one set goes first");
  return test::failures() == 0 ? 0 : 1;
}
