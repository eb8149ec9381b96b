// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Every class of error that chapter 12 names, on windows of every kind; a refused call changes nothing.
// ranks: 1 2

#include <mpi.h>

#include <cstdint>

#include "rma/window.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::Kind;
using test::Window;

int last = 0;  ///< the highest rank

int put_one(const Window& window, int target, MPI_Aint at) {
  const std::int64_t value = 77;
  return MPI_Put(&value, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, window.get());
}

void check_epochs(const Window& window) {
  expect_class(put_one(window, last, window.at(last, 0)), MPI_ERR_RMA_SYNC, "put in no epoch");
  expect_class(MPI_Win_unlock(last, window.get()), MPI_ERR_RMA_SYNC, "unlock in no epoch");
  expect_class(MPI_Win_unlock_all(window.get()), MPI_ERR_RMA_SYNC, "unlock_all in no epoch");
  expect_class(MPI_Win_flush(last, window.get()), MPI_ERR_RMA_SYNC, "flush in no epoch");
  expect_class(MPI_Win_flush_all(window.get()), MPI_ERR_RMA_SYNC, "flush_all in no epoch");
  expect_class(MPI_Win_flush_local(last, window.get()), MPI_ERR_RMA_SYNC, "flush_local likewise");
  expect_class(MPI_Win_complete(window.get()), MPI_ERR_RMA_SYNC, "complete in no epoch");
  expect_class(MPI_Win_wait(window.get()), MPI_ERR_RMA_SYNC, "wait in no epoch");
  int flag = 0;
  expect_class(MPI_Win_test(window.get(), &flag), MPI_ERR_RMA_SYNC, "test in no epoch");
  MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window.get());
  expect_class(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window.get()), MPI_ERR_RMA_SYNC,
               "a lock taken twice");
  expect_class(MPI_Win_lock_all(0, window.get()), MPI_ERR_RMA_SYNC, "lock_all while locked");
  expect_class(MPI_Win_fence(0, window.get()), MPI_ERR_RMA_SYNC, "fence while locked");
  MPI_Win win = window.get();
  expect_class(MPI_Win_free(&win), MPI_ERR_RMA_SYNC, "free while locked");
  if (last != 0) {
    expect_class(put_one(window, 0, window.at(0, 0)), MPI_ERR_RMA_SYNC, "put to who is not locked");
  }
  expect_equal(MPI_Win_unlock(last, window.get()), MPI_SUCCESS, "unlock");
}

void check_arguments(const Window& window) {
  const MPI_Win win = window.get();
  expect_class(MPI_Win_lock(12345, last, 0, win), MPI_ERR_LOCKTYPE, "type of a lock");
  expect_class(MPI_Win_lock(MPI_LOCK_SHARED, last + 1, 0, win), MPI_ERR_RANK, "rank of a lock");
  expect_class(MPI_Win_lock(MPI_LOCK_SHARED, last, 1 << 30, win), MPI_ERR_ASSERT, "assertion");
  expect_class(MPI_Win_fence(1 << 30, win), MPI_ERR_ASSERT, "assertion of a fence");
  MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
  expect_class(put_one(window, last + 1, 0), MPI_ERR_RANK, "rank of a put");
  const int value = 0;
  int result = 0;
  expect_class(MPI_Put(&value, -1, MPI_INT, last, 0, 1, MPI_INT, win), MPI_ERR_COUNT, "count");
  expect_class(MPI_Put(&value, 1, MPI_DATATYPE_NULL, last, 0, 1, MPI_INT, win), MPI_ERR_TYPE,
               "datatype");
  expect_class(MPI_Put(nullptr, 1, MPI_INT, last, 0, 1, MPI_INT, win), MPI_ERR_BUFFER, "buffer");
  expect_class(
      MPI_Accumulate(&value, 1, MPI_INT, last, window.at(last, 0), 1, MPI_INT, MPI_OP_NULL, win),
      MPI_ERR_OP, "no operation");
  expect_class(
      MPI_Accumulate(&value, 1, MPI_FLOAT, last, window.at(last, 0), 1, MPI_FLOAT, MPI_BXOR, win),
      MPI_ERR_OP, "an operation that is not defined");
  expect_class(
      MPI_Accumulate(&value, 1, MPI_INT, last, window.at(last, 0), 1, MPI_FLOAT, MPI_SUM, win),
      MPI_ERR_TYPE, "different elements");
  expect_class(
      MPI_Compare_and_swap(&value, &value, &result, MPI_FLOAT, last, window.at(last, 0), win),
      MPI_ERR_TYPE, "a type that cannot be compared");
  const std::int64_t two[2] = {};
  expect_class(MPI_Put(two, 2, MPI_INT64_T, last, window.at(last, 0), 1, MPI_INT64_T, win),
               MPI_ERR_TRUNCATE, "more data than elements at the target");
  MPI_Win_unlock(last, win);
}

void add_up(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

/// Operations that accumulates cannot have, whatever their target and count are.
void check_ops(const Window& window) {
  const MPI_Win win = window.get();
  MPI_Op own = MPI_OP_NULL;
  MPI_Op_create(add_up, 1, &own);
  const int value = 3;
  int result = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
  for (const int target : {last, int{MPI_PROC_NULL}}) {
    const MPI_Aint at = target == last ? window.at(last, 0) : 0;
    for (const int count : {0, 1}) {
      for (MPI_Op op : {own, MPI_NO_OP}) {
        expect_class(MPI_Accumulate(&value, count, MPI_INT, target, at, count, MPI_INT, op, win),
                     MPI_ERR_OP, "the operation of MPI_Accumulate");
        expect_class(
            MPI_Raccumulate(&value, count, MPI_INT, target, at, count, MPI_INT, op, win, &request),
            MPI_ERR_OP, "the operation of MPI_Raccumulate");
      }
      expect_class(MPI_Get_accumulate(&value, count, MPI_INT, &result, count, MPI_INT, target, at,
                                      count, MPI_INT, own, win),
                   MPI_ERR_OP, "the operation of MPI_Get_accumulate");
    }
    expect_class(MPI_Fetch_and_op(&value, &result, MPI_INT, target, at, own, win), MPI_ERR_OP,
                 "the operation of MPI_Fetch_and_op");
  }
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  int both[2] = {};
  expect_class(MPI_Fetch_and_op(both, both, pair, last, window.at(last, 0), MPI_SUM, win),
               MPI_ERR_TYPE, "MPI_Fetch_and_op of a derived type");
  expect_class(MPI_Compare_and_swap(both, both, both, pair, last, window.at(last, 0), win),
               MPI_ERR_TYPE, "MPI_Compare_and_swap of a derived type");
  MPI_Type_free(&pair);
  MPI_Op_free(&own);
  // Reductions have none of the operations that are for windows.
  expect_class(MPI_Reduce_local(both, both + 1, 1, MPI_INT, MPI_REPLACE), MPI_ERR_OP,
               "MPI_REPLACE");
  expect_class(MPI_Reduce_local(both, both + 1, 1, MPI_INT, MPI_NO_OP), MPI_ERR_OP, "MPI_NO_OP");
  expect_equal(MPI_Win_unlock(last, win), MPI_SUCCESS, "the end of the epoch");
  expect_equal(*window.memory<int>(), 0, "the window after refused operations");
}

/// MPI_NO_OP ignores the arguments of the origin, whatever they are (MPI 5.0, 12.3.4).
void check_no_op(const Window& window) {
  MPI_Datatype open = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &open);
  // NOLINTNEXTLINE: not a datatype
  const auto no_type = reinterpret_cast<MPI_Datatype>(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window.get());
  for (MPI_Datatype type : {MPI_DATATYPE_NULL, open, no_type}) {
    int fetched = -1;
    expect_equal(MPI_Get_accumulate(nullptr, -5, type, &fetched, 1, MPI_INT, last,
                                    window.at(last, 0), 1, MPI_INT, MPI_NO_OP, window.get()),
                 MPI_SUCCESS, "MPI_Get_accumulate");
    MPI_Win_flush(last, window.get());
    expect_equal(fetched, 0, "what MPI_Get_accumulate fetches");
    fetched = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    expect_equal(
        MPI_Rget_accumulate(nullptr, -5, type, &fetched, 1, MPI_INT, last, window.at(last, 0), 1,
                            MPI_INT, MPI_NO_OP, window.get(), &request),
        MPI_SUCCESS, "MPI_Rget_accumulate");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_equal(fetched, 0, "what MPI_Rget_accumulate fetches");
  }
  MPI_Win_unlock(last, window.get());
  MPI_Type_free(&open);
}

/// Accesses outside; in dynamic windows of other ranks they are detected when the epoch ends.
void check_range(const Window& window, Kind kind, std::size_t bytes) {
  MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window.get());
  int code = put_one(window, last, window.at(last, bytes - 4));
  const int ended = MPI_Win_unlock(last, window.get());
  if (kind == Kind::dynamic && code == MPI_SUCCESS) code = ended;
  expect_class(code, MPI_ERR_RMA_RANGE, "a put that leaves the window");
  MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window.get());
  std::int64_t value = 5;
  code =
      MPI_Get(&value, 1, MPI_INT64_T, last, window.at(last, bytes), 1, MPI_INT64_T, window.get());
  const int flushed = MPI_Win_flush(last, window.get());
  if (kind == Kind::dynamic && code == MPI_SUCCESS) code = flushed;
  expect_class(code, MPI_ERR_RMA_RANGE, "a get from behind the window");
  if (kind != Kind::dynamic) {
    expect_class(put_one(window, last, -8), MPI_ERR_DISP, "a negative displacement");
  }
  constexpr MPI_Count many = (MPI_Count{1} << 61) + 1;  // times 8 bytes: 8 more than 2^64
  expect_class(
      MPI_Put_c(&value, 1, MPI_INT64_T, last, window.at(last, 0), many, MPI_INT64_T, window.get()),
      MPI_ERR_RMA_RANGE, "a put to more than any window has");
  expect_class(MPI_Accumulate_c(&value, many, MPI_INT64_T, last, window.at(last, 0), many,
                                MPI_INT64_T, MPI_SUM, window.get()),
               MPI_ERR_RMA_RANGE, "an accumulate to more than any window has");
  expect_class(
      MPI_Put_c(&value, many, MPI_INT64_T, last, window.at(last, 0), 1, MPI_INT64_T, window.get()),
      MPI_ERR_TRUNCATE, "a put of more than any memory has");
  // Afterwards the window works as before.
  expect_equal(put_one(window, last, window.at(last, bytes - 8)), MPI_SUCCESS, "the last element");
  expect_equal(MPI_Win_unlock(last, window.get()), MPI_SUCCESS, "end of the epoch");
}

void check_making() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win win = MPI_WIN_NULL;
  char memory[8];
  expect_class(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE,
               "size");
  expect_class(MPI_Win_create(memory, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP,
               "unit");
  expect_class(MPI_Win_create(nullptr, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE,
               "no memory");
  void* base = nullptr;
  expect_class(MPI_Win_allocate(MPI_Aint{1} << 59, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
               MPI_ERR_NO_MEM, "more memory than there is");
  expect(win == MPI_WIN_NULL, "no window after an error");
  expect_class(MPI_Win_free(&win), MPI_ERR_WIN, "the null window");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  last = test::size_of(MPI_COMM_WORLD) - 1;
  for (const Kind kind : test::all_kinds) {
    constexpr std::size_t bytes = 1000;
    const Window window(kind, bytes);
    check_epochs(window);
    check_arguments(window);
    check_ops(window);
    check_no_op(window);
    check_range(window, kind, bytes);
  }
  check_making();
  return test::finish();
}
