// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Windows and their properties: memory, attributes, names, info, groups, keys, handles.
// ranks: 1 2 4

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "rma/window.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::Kind;
using test::Window;

void* attribute(MPI_Win win, int key) {
  void* value = nullptr;
  int found = 0;
  expect_equal(MPI_Win_get_attr(win, key, &value, &found), MPI_SUCCESS, "get_attr");
  expect(found != 0, "a predefined attribute");
  return value;
}

void check_attributes(Kind kind) {
  const Window window(kind, 96);
  const MPI_Win win = window.get();
  const bool dynamic = kind == Kind::dynamic;
  void* base = attribute(win, MPI_WIN_BASE);
  expect(base == (dynamic ? MPI_BOTTOM : window.memory<void>()), "MPI_WIN_BASE");
  expect_equal(*static_cast<MPI_Aint*>(attribute(win, MPI_WIN_SIZE)), dynamic ? 0 : 96, "size");
  expect_equal(*static_cast<int*>(attribute(win, MPI_WIN_DISP_UNIT)), 1, "unit");
  constexpr int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                             MPI_WIN_FLAVOR_DYNAMIC};
  expect_equal(*static_cast<int*>(attribute(win, MPI_WIN_CREATE_FLAVOR)),
               flavors[static_cast<int>(kind)], "flavor");
  expect_equal(*static_cast<int*>(attribute(win, MPI_WIN_MODEL)), MPI_WIN_UNIFIED, "model");
}

void check_name_and_group() {
  const Window window(Kind::allocate, 8);
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Win_get_name(window.get(), name, &length);
  expect_equal(length, 0, "no name at first");
  MPI_Win_set_name(window.get(), "halo");
  MPI_Win_get_name(window.get(), name, &length);
  expect(std::string(name) == "halo" && length == 4, "the name that was set");
  MPI_Win_get_name(MPI_WIN_NULL, name, &length);
  expect(std::string(name) == "MPI_WIN_NULL", "the name of the null window");
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Win_get_group(window.get(), &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int result = -1;
  MPI_Group_compare(group, world, &result);
  expect_equal(result, MPI_IDENT, "group");
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  const int number = MPI_Win_toint(window.get());
  expect(MPI_Win_fromint(number) == window.get(), "handle as a number");
  expect_equal(MPI_Win_c2f(window.get()), number, "handle of Fortran");
}

std::string value_of(MPI_Info info, const char* key) {
  char text[MPI_MAX_INFO_VAL];
  int length = sizeof text;
  int found = 0;
  MPI_Info_get_string(info, key, &length, text, &found);
  return found != 0 ? text : "-";
}

void check_info() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Info_set(info, "same_size", "maybe");
  MPI_Info_set(info, "colour", "blue");
  void* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(8, 8, info, MPI_COMM_WORLD, &memory, &win);
  MPI_Info used = MPI_INFO_NULL;
  MPI_Win_get_info(win, &used);
  expect(value_of(used, "no_locks") == "true", "a hint that was set");
  expect(value_of(used, "same_size") == "false", "a value without meaning is ignored");
  expect(value_of(used, "colour") == "-", "an unknown key is ignored");
  expect(value_of(used, "accumulate_ordering") == "rar,raw,war,waw", "a default");
  MPI_Info_free(&used);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  expect_class(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC, "locking despite no_locks");
  MPI_Info_set(info, "no_locks", "false");
  MPI_Win_set_info(win, info);
  expect_equal(MPI_Win_lock_all(0, win), MPI_SUCCESS, "locking after set_info");
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Info_free(&info);
}

/// What a window of this kind says of a key, after it was set to `value` when it was made.
std::string hint_of(Kind kind, const char* key, const char* value) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  MPI_Win win = MPI_WIN_NULL;
  void* memory = nullptr;
  static char own[8];
  if (kind == Kind::create) MPI_Win_create(own, 8, 1, info, MPI_COMM_WORLD, &win);
  if (kind == Kind::allocate) MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &memory, &win);
  if (kind == Kind::shared) MPI_Win_allocate_shared(8, 1, info, MPI_COMM_WORLD, &memory, &win);
  if (kind == Kind::dynamic) MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
  MPI_Info used = MPI_INFO_NULL;
  MPI_Win_get_info(win, &used);
  const std::string told = value_of(used, key);
  MPI_Info_free(&used);
  MPI_Info_free(&info);
  MPI_Win_free(&win);
  return told;
}

/// Keys are reported where they are used, with the values in use.
void check_hints() {
  for (const Kind kind : test::all_kinds) {
    const bool gives = kind == Kind::allocate || kind == Kind::shared;
    const auto said = [&](const char* key, const char* value, const std::string& expected) {
      const std::string told = hint_of(kind, key, value);
      const std::string what = std::string(key) + "=" + value + " gives " + told;
      expect(told == expected, what.c_str());
    };
    said("no_locks", "true", "true");
    said("no_locks", "1", "false");
    said("accumulate_ordering", "none", "none");
    said("accumulate_ordering", "rar,waw", "rar,waw");
    said("accumulate_ordering", "rar,", "rar,raw,war,waw");
    said("accumulate_ordering", "all", "rar,raw,war,waw");
    said("accumulate_ops", "same_op", "same_op");
    said("accumulate_ops", "any", "same_op_no_op");
    said("mpi_accumulate_granularity", "64", "64");
    said("mpi_accumulate_granularity", "-1", "0");
    said("same_size", "true", kind == Kind::dynamic ? "-" : "true");
    said("same_disp_unit", "true", kind == Kind::dynamic ? "-" : "true");
    said("alloc_shared_noncontig", "true", kind == Kind::shared ? "true" : "-");
    said("mpi_minimum_memory_alignment", "64", gives ? "64" : "-");
    said("mpi_minimum_memory_alignment", "often", "-");
  }
}

/// Hints about memory that is there already.
void check_late_hints() {
  const Window window(Kind::shared, 8);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
  MPI_Info_set(info, "accumulate_ops", "same_op");
  MPI_Win_set_info(window.get(), info);
  MPI_Info used = MPI_INFO_NULL;
  MPI_Win_get_info(window.get(), &used);
  expect(value_of(used, "alloc_shared_noncontig") == "false", "gaps after the window was made");
  expect(value_of(used, "mpi_minimum_memory_alignment") == "-", "alignment after it was made");
  expect(value_of(used, "accumulate_ops") == "same_op", "a hint about later calls");
  MPI_Info_free(&used);
  MPI_Info_free(&info);
}

int deletions = 0;
int count_deletion(MPI_Win /*win*/, int /*key*/, void* value, void* extra) {
  expect(extra == &deletions && value == &deletions, "arguments of a delete function");
  ++deletions;
  return MPI_SUCCESS;
}

void check_keys() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deletion, &key, &deletions);
  {
    const Window window(Kind::allocate, 8);
    void* value = nullptr;
    int found = 1;
    MPI_Win_get_attr(window.get(), key, &value, &found);
    expect_equal(found, 0, "an attribute that was not set");
    MPI_Win_set_attr(window.get(), key, &deletions);
    MPI_Win_get_attr(window.get(), key, &value, &found);
    expect(found == 1 && value == &deletions, "an attribute that was set");
    MPI_Win_delete_attr(window.get(), key);
    expect_equal(deletions, 1, "deleting calls the function");
    MPI_Win_set_attr(window.get(), key, &deletions);
  }
  expect_equal(deletions, 2, "freeing the window does, too");
  MPI_Win_free_keyval(&key);
}

MPI_Win raised_on = MPI_WIN_NULL;
int raised_code = MPI_SUCCESS;
void note_error(MPI_Win* win, int* code, ...) {
  raised_on = *win;
  raised_code = *code;
}

void check_errhandler() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_create_errhandler(note_error, &handler);
  const Window window(Kind::allocate, 8);
  MPI_Win_set_errhandler(window.get(), handler);
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  MPI_Win_get_errhandler(window.get(), &found);
  expect(found == handler, "the handler that was set");
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&handler);
  MPI_Win_call_errhandler(window.get(), MPI_ERR_OTHER);
  expect(raised_on == window.get() && raised_code == MPI_ERR_OTHER, "call_errhandler");
  MPI_Win_unlock(0, window.get());
  expect_class(raised_code, MPI_ERR_RMA_SYNC, "an error of a call");
  MPI_Win_set_errhandler(window.get(), MPI_ERRORS_RETURN);
}

/// Sizes differ by rank; contiguous memory is in the order of the ranks.
void check_shared(bool contiguous) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", contiguous ? "false" : "true");
  int* own = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  const auto bytes = static_cast<MPI_Aint>(sizeof(int)) * rank;  // rank 0 has none
  MPI_Win_allocate_shared(bytes, sizeof(int), info, MPI_COMM_WORLD, &own, &win);
  MPI_Info_free(&info);
  MPI_Win_fence(0, win);
  for (int i = 0; i < rank; ++i) own[i] = 100 * rank + i;
  MPI_Win_fence(0, win);
  const int* next = nullptr;
  for (int other = 0; other < size; ++other) {
    MPI_Aint there = -1;
    int unit = -1;
    int* memory = nullptr;
    MPI_Win_shared_query(win, other, &there, &unit, &memory);
    expect_equal(there, static_cast<MPI_Aint>(sizeof(int)) * other, "size of a rank");
    expect_equal(unit, static_cast<int>(sizeof(int)), "unit of a rank");
    for (int i = 0; i < other; ++i) expect_equal(memory[i], 100 * other + i, "memory of a rank");
    if (contiguous && next != nullptr) expect(memory == next, "memory without gaps");
    next = memory + other;
  }
  MPI_Aint first = -1;
  int unit = -1;
  int* memory = nullptr;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &first, &unit, &memory);
  expect_equal(first, size > 1 ? static_cast<MPI_Aint>(sizeof(int)) : 0, "the first with memory");
  MPI_Win_free(&win);
}

/// Gaps that only some ranks allow are not made: all ranks agree on the layout of the memory.
void check_shared_with_different_info() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", rank % 2 == 0 ? "true" : "false");
  unsigned char* own = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  const auto bytes_of = [](int of) { return MPI_Aint{5000} * (of + 1) + 1; };
  MPI_Win_allocate_shared(bytes_of(rank), 1, info, MPI_COMM_WORLD, &own, &win);
  MPI_Info_free(&info);
  MPI_Win_fence(0, win);
  std::memset(own, rank + 1, static_cast<std::size_t>(bytes_of(rank)));
  MPI_Win_fence(0, win);
  for (int other = 0; other < test::size_of(MPI_COMM_WORLD); ++other) {
    MPI_Aint there = 0;
    int unit = 0;
    unsigned char* memory = nullptr;
    MPI_Win_shared_query(win, other, &there, &unit, &memory);
    expect_equal(there, bytes_of(other), "size of a neighbour");
    expect_equal(memory[0], other + 1, "the first byte of a neighbour");
    expect_equal(memory[there - 1], other + 1, "the last byte of a neighbour");
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/// Memory of the user is not shared: no rank may take its own for that of the first one.
void check_query_of_user_memory() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  std::vector<unsigned char> own(static_cast<std::size_t>(rank) + 10);
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(own.data(), static_cast<MPI_Aint>(own.size()), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &win);
  MPI_Aint size = -1;
  int unit = 0;
  void* memory = nullptr;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &memory);
  if (size != 0) expect_equal(size, MPI_Aint{10}, "size of the first rank");
  if (size != 0 && rank == 0) test::expect(memory == own.data(), "its memory");
  MPI_Win_free(&win);
}

/// Each rank gets what it asks for, smaller and larger than a page.
void check_alignment() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  for (const MPI_Aint alignment : {MPI_Aint{256} << rank, MPI_Aint{32768} << rank}) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", std::to_string(alignment).c_str());
    unsigned char* own = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate(100, 1, info, MPI_COMM_WORLD, &own, &win);
    expect_equal(reinterpret_cast<std::uintptr_t>(own) % static_cast<std::uintptr_t>(alignment),
                 std::uintptr_t{0}, "alignment of MPI_Win_allocate");
    std::memset(own, rank + 1, 100);
    MPI_Win_fence(0, win);
    const int next = (rank + 1) % test::size_of(MPI_COMM_WORLD);
    unsigned char value = 0;
    MPI_Get(&value, 1, MPI_UNSIGNED_CHAR, next, 99, 1, MPI_UNSIGNED_CHAR, win);
    MPI_Win_fence(0, win);
    expect_equal(value, next + 1, "the memory of a neighbour");
    MPI_Win_free(&win);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(100, 1, info, MPI_COMM_WORLD, &own, &win);
    expect_equal(reinterpret_cast<std::uintptr_t>(own) % static_cast<std::uintptr_t>(alignment),
                 std::uintptr_t{0}, "alignment of MPI_Win_allocate_shared with gaps");
    MPI_Info_free(&info);
    MPI_Win_free(&win);
  }
}

void check_attach() {
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  char memory[64];
  expect_equal(MPI_Win_attach(win, memory, 32), MPI_SUCCESS, "attach");
  expect_class(MPI_Win_attach(win, memory + 16, 32), MPI_ERR_RMA_ATTACH, "attaching it twice");
  expect_equal(MPI_Win_attach(win, memory + 32, 32), MPI_SUCCESS, "a neighbour");
  expect_class(MPI_Win_detach(win, memory + 8), MPI_ERR_BASE, "detaching a part");
  expect_equal(MPI_Win_detach(win, memory), MPI_SUCCESS, "detach");
  expect_equal(MPI_Win_attach(win, memory + 48, 0), MPI_SUCCESS, "nothing, within attached memory");
  expect_equal(MPI_Win_attach(win, memory, 0), MPI_SUCCESS, "nothing, in front of memory");
  expect_equal(MPI_Win_attach(win, memory, 32), MPI_SUCCESS, "memory that begins at nothing");
  expect_equal(MPI_Win_detach(win, memory), MPI_SUCCESS, "detach the first of two");
  expect_equal(MPI_Win_detach(win, memory), MPI_SUCCESS, "detach the second");
  expect_class(MPI_Win_detach(win, memory), MPI_ERR_BASE, "detaching it again");
  expect_class(MPI_Win_attach(win, nullptr, 8), MPI_ERR_BASE, "attaching no memory");
  expect_equal(MPI_Win_attach(win, nullptr, 0), MPI_SUCCESS, "attaching nothing");
  expect_equal(MPI_Win_detach(win, nullptr), MPI_SUCCESS, "detaching nothing");
  char* high = reinterpret_cast<char*>(UINTPTR_MAX - 15);
  expect_class(MPI_Win_attach(win, high, 64), MPI_ERR_RMA_ATTACH, "beyond the last address");
  void* base = nullptr;
  MPI_Aint size = 0;
  int unit = 0;
  expect_class(MPI_Win_shared_query(win, 0, &size, &unit, &base), MPI_ERR_RMA_FLAVOR,
               "shared_query of a dynamic window");
  MPI_Win_free(&win);
  const Window fixed(Kind::allocate, 8);
  expect_class(MPI_Win_attach(fixed.get(), memory, 8), MPI_ERR_RMA_FLAVOR,
               "attach to another kind");
}

/// Windows are made and freed without end, and many live at once.
void check_many() {
  constexpr int at_once = 200;
  static MPI_Win wins[at_once];
  for (int turn = 0; turn < 2; ++turn) {
    for (MPI_Win& win : wins) {
      int* memory = nullptr;
      MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
      expect_equal(*memory, 0, "new memory is zero");
      *memory = 1;
    }
    for (MPI_Win& win : wins) MPI_Win_free(&win);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const Kind kind : test::all_kinds) check_attributes(kind);
  check_name_and_group();
  check_info();
  check_hints();
  check_late_hints();
  check_keys();
  check_errhandler();
  check_shared(true);
  check_shared(false);
  check_shared_with_different_info();
  check_query_of_user_memory();
  check_alignment();
  check_attach();
  check_many();
  return test::finish();
}
