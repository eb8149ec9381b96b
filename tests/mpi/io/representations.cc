// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Data representations and derived datatypes: what functions of the user are given, and what is
// converted at the end of a file.
// ranks: 1 3

#include <mpi.h>

#include <array>
#include <cstring>

#include "support/files.h"

namespace {

using namespace test;  // NOLINT: most of it is used here

/// `count` integers, each followed by a gap of one.
MPI_Datatype strided(int count) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

// A representation with each integer in eight bytes, negated. The functions write the items that
// they are asked for to every second integer of the buffer, as `strided` has them.
struct Seen {
  int calls = 0;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};
int eight_bytes(MPI_Datatype type, MPI_Aint* extent, void* /*state*/) {
  int size = 0;
  MPI_Type_size(type, &size);
  *extent = type == MPI_INT ? 8 : size;
  return MPI_SUCCESS;
}
void note(void* state, MPI_Datatype type, int count) {
  auto& seen = *static_cast<Seen*>(state);
  ++seen.calls;
  seen.count += count;
  seen.type = type;
}
int from_file(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
              void* state) {
  note(state, type, count);
  for (int i = 0; i < count; ++i) {
    std::int64_t value = 0;
    std::memcpy(&value, static_cast<char*>(file) + 8L * i, 8);
    static_cast<int*>(user)[2 * (position + i)] = static_cast<int>(-value);
  }
  return MPI_SUCCESS;
}
int to_file(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
            void* state) {
  note(state, type, count);
  for (int i = 0; i < count; ++i) {
    const std::int64_t value = -std::int64_t{static_cast<int*>(user)[2 * (position + i)]};
    std::memcpy(static_cast<char*>(file) + 8L * i, &value, 8);
  }
  return MPI_SUCCESS;
}

/// MPI 5.0 section 14.5.3: `count` counts the entries of the type map, and the datatype is that of
/// the call.
void functions_get_the_count_of_the_type_map(const Folder& folder) {
  static Seen seen;
  succeeds(MPI_Register_datarep("negated", from_file, to_file, eight_bytes, &seen), "register");
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("items"), scratch);
  succeeds(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "negated", MPI_INFO_NULL), "set_view");
  MPI_Datatype type = strided(5);
  const std::array<int, 9> values = {rank + 1, -1, 2, -1, 3, -1, 4, -1, 5};
  MPI_Status status;
  seen = {};
  succeeds(MPI_File_write_at_all(file, 5 * rank, values.data(), 1, type, &status), "write");
  expect_equal(seen.count, 5, "five integers are written");
  expect(seen.type == type, "with the datatype of the call");
  expect_equal(test::count_of(status, MPI_INT), 5, "the status counts them");
  std::array<int, 9> back{};
  seen = {};
  succeeds(MPI_File_read_at_all(file, 5 * rank, back.data(), 1, type, &status), "read");
  expect_equal(seen.count, 5, "five integers are read");
  expect_equal(test::count_of(status, type), 1, "one element of the type");
  for (std::size_t i = 0; i < 9; i += 2) expect_equal(back.at(i), values.at(i), "an integer");
  expect_equal(back[1], 0, "a gap");
  MPI_Barrier(MPI_COMM_WORLD);
  // Of the last element of the type two integers are in the file, and half of a third.
  succeeds(MPI_File_set_size(file, 20), "set_size");
  back = {};
  seen = {};
  succeeds(MPI_File_read_at_all(file, 0, back.data(), 1, type, &status), "read at the end");
  expect_equal(seen.count, 2, "two integers are complete");
  expect_equal(test::count_of(status, MPI_INT), 2, "the status counts them");
  expect_equal(back[2], 2, "the second");
  expect_equal(back[4], 0, "the third stays");
  MPI_Type_free(&type);
  succeeds(MPI_File_close(&file), "close");
}

/// A read ends in the middle of an element of the datatype: basic elements are what counts.
void external32_ends_in_an_element(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("external"), scratch);
  succeeds(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL), "set_view");
  const std::array<int, 7> values = {1, 2, 3, 4, 5, 6, 7};
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    succeeds(MPI_File_write_at(file, 0, values.data(), 7, MPI_INT, MPI_STATUS_IGNORE), "write");
  }
  succeeds(MPI_File_sync(file), "sync");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Datatype type = strided(5);
  for (const bool collective : {false, true}) {
    std::array<int, 18> back{};
    MPI_Status status;
    succeeds((collective ? MPI_File_read_at_all : MPI_File_read_at)(file, 0, back.data(), 2, type,
                                                                    &status),
             "read");
    int elements = 0;
    MPI_Get_elements(&status, type, &elements);
    expect_equal(elements, 7, "seven integers");
    expect_equal(test::count_of(status, type), MPI_UNDEFINED, "no whole number of the type");
    // The second element begins at the tenth integer: the extent of a vector ends with its data.
    const std::array<int, 18> expected = {1, 0, 2, 0, 3, 0, 4, 0, 5, 6, 0, 7};
    expect(back == expected, "the integers and nothing else");
  }
  MPI_Type_free(&type);
  succeeds(MPI_File_close(&file), "close");
}

/// Without functions data keep their size: extents that say otherwise do not move foreign memory.
void sizes_without_functions_must_agree(const Folder& folder) {
  succeeds(MPI_Register_datarep(
               "shorter", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
               [](MPI_Datatype, MPI_Aint* extent, void*) -> int {
                 *extent = 1;
                 return MPI_SUCCESS;
               },
               nullptr),
           "register");
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("shorter"), scratch);
  succeeds(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "shorter", MPI_INFO_NULL), "set_view");
  std::array<double, 64> values{};
  expect_class(MPI_File_write_at(file, 0, values.data(), 64, MPI_DOUBLE, MPI_STATUS_IGNORE),
               MPI_ERR_CONVERSION, "doubles of one byte are not written");
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_set_size(file, 64), "set_size");
  expect_class(MPI_File_read_at(file, 0, values.data(), 64, MPI_DOUBLE, MPI_STATUS_IGNORE),
               MPI_ERR_CONVERSION, "doubles of one byte are not read");
  succeeds(MPI_File_close(&file), "close");
}

/// An element of a pair type is one etype, and takes what its two values take.
void pairs_are_their_values(const Folder& folder) {
  succeeds(MPI_Register_datarep(
               "in memory", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
               [](MPI_Datatype type, MPI_Aint* extent, void*) -> int {
                 MPI_Aint lower = 0;
                 return MPI_Type_get_extent(type, &lower, extent);
               },
               nullptr),
           "register");
  const std::string name = "pairs." + std::to_string(test::rank_of(MPI_COMM_WORLD));
  MPI_File file = open_file(MPI_COMM_SELF, folder.file(name.c_str()), scratch);
  succeeds(MPI_File_set_view(file, 0, MPI_DOUBLE_INT, MPI_DOUBLE_INT, "in memory", MPI_INFO_NULL),
           "set_view");
  struct Pair {
    double value;
    int index;
  };
  const std::array<Pair, 3> pairs = {{{1.5, 1}, {2.5, 2}, {3.5, 3}}};
  succeeds(MPI_File_write(file, pairs.data(), 3, MPI_DOUBLE_INT, MPI_STATUS_IGNORE), "write");
  MPI_Offset position = -1;
  succeeds(MPI_File_get_position(file, &position), "get_position");
  expect_equal(position, MPI_Offset{3}, "etypes that were written");
  std::array<Pair, 3> back{};
  succeeds(MPI_File_read_at(file, 0, back.data(), 3, MPI_DOUBLE_INT, MPI_STATUS_IGNORE), "read_at");
  for (std::size_t i = 0; i < 3; ++i) {
    expect(back.at(i).value == pairs.at(i).value && back.at(i).index == pairs.at(i).index,
           "a pair");
  }
  succeeds(MPI_File_close(&file), "close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Folder folder;
    functions_get_the_count_of_the_type_map(folder);
    external32_ends_in_an_element(folder);
    sizes_without_functions_must_agree(folder);
    pairs_are_their_values(folder);
  }
  return test::finish();
}
