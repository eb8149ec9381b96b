// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Views: offsets, pointers and data of strided, nested and shifted types; the end of the file; what
// is refused; data representations.
// ranks: 1 2 4

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "support/files.h"

namespace {

using namespace test;  // NOLINT: most of it is used here

/// `block` integers of every `stride`.
MPI_Datatype strided(int block, int stride) {
  MPI_Datatype blocks = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(block, MPI_INT, &blocks);
  MPI_Type_create_resized(blocks, 0, MPI_Aint{4} * stride, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&blocks);
  return type;
}

void offsets_follow_the_view(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("offsets"), scratch);
  MPI_Datatype type = strided(2, 5);
  succeeds(MPI_File_set_view(file, 100, MPI_INT, type, "native", MPI_INFO_NULL), "set_view");
  MPI_Offset at = -1;
  const MPI_Offset expected[] = {100, 104, 120, 124, 140};
  for (int i = 0; i < 5; ++i) {
    succeeds(MPI_File_get_byte_offset(file, i, &at), "get_byte_offset");
    expect_equal(at, expected[i], "byte offset");
  }
  succeeds(MPI_File_get_byte_offset(file, (MPI_Offset{1} << 40) + 1, &at), "far away");
  expect_equal(at, 100 + (MPI_Offset{1} << 39) * 20 + 4, "byte offset far away");
  succeeds(MPI_File_seek(file, 3, MPI_SEEK_SET), "seek");
  succeeds(MPI_File_seek(file, 2, MPI_SEEK_CUR), "seek");
  succeeds(MPI_File_get_position(file, &at), "get_position");
  expect_equal(at, 5, "position in etypes");
  expect_class(MPI_File_seek(file, -6, MPI_SEEK_CUR), MPI_ERR_ARG, "before the view");
  expect_class(MPI_File_seek(file, MPI_Offset{1} << 61, MPI_SEEK_CUR), MPI_ERR_ARG,
               "2^63 bytes on");
  succeeds(MPI_File_get_position(file, &at), "get_position");
  expect_equal(at, 5, "position after refused seeks");
  expect_class(MPI_File_seek(file, 0, 99), MPI_ERR_ARG, "whence");
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_set_size(file, 124), "set_size");
  succeeds(MPI_File_seek(file, 0, MPI_SEEK_END), "seek to the end");
  succeeds(MPI_File_get_position(file, &at), "get_position");
  expect_equal(at, 3, "two etypes at 100, one at 120");
  MPI_Offset displacement = -1;
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  char representation[MPI_MAX_DATAREP_STRING] = "";
  succeeds(MPI_File_get_view(file, &displacement, &etype, &filetype, representation), "get_view");
  expect_equal(displacement, 100, "displacement");
  expect(etype == MPI_INT, "etype");
  expect(std::strcmp(representation, "native") == 0, "representation");
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(filetype, &lb, &extent);
  expect_equal(extent, 20, "filetype");
  MPI_Type_free(&filetype);
  MPI_Type_free(&type);
  succeeds(MPI_File_close(&file), "close");
}

void data_lie_where_the_view_says(const Folder& folder) {
  const std::string name = folder.file("data");
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  MPI_File file = open_file(MPI_COMM_WORLD, name, scratch);
  MPI_Datatype type = strided(1, size);
  succeeds(MPI_File_set_view(file, 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL), "set_view");
  std::vector<int> values(1000);
  for (int i = 0; i < 1000; ++i) values[static_cast<std::size_t>(i)] = rank + i * size;
  MPI_Status status;
  succeeds(MPI_File_write(file, values.data(), 1000, MPI_INT, &status), "write");
  expect_equal(test::count_of(status, MPI_INT), 1000, "all were written");
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<char> content = test::content_of(name);
  expect_equal(content.size(), 4000 * size, "size of the file");
  for (int i = 0; i < 1000 * size; ++i) {
    int value = -1;
    std::memcpy(&value, content.data() + 4 * static_cast<std::size_t>(i), 4);
    if (value != i) expect_equal(value, i, "each value in its place");
  }
  // Memory in pieces; the file ends in the middle.
  MPI_Datatype gaps = strided(1, 3);
  std::vector<int> back(3300, -7);
  succeeds(MPI_File_seek(file, 900, MPI_SEEK_SET), "seek");
  succeeds(MPI_File_read(file, back.data(), 1100, gaps, &status), "read over the end");
  expect_equal(test::count_of(status, gaps), 100, "what was there");
  expect_equal(back[3 * 99], rank + 999 * size, "the last one");
  expect_equal(back[1], -7, "the gaps are untouched");
  expect_equal(back[300], -7, "nothing behind the end");
  MPI_Offset position = 0;
  succeeds(MPI_File_get_position(file, &position), "get_position");
  expect_equal(position, 2000, "the pointer moves by what was asked for");
  for (const char* use : {"enable", "disable"}) {
    test::Hints hints;
    hints.set("romio_ds_read", use).set("ind_rd_buffer_size", "4096");
    succeeds(MPI_File_set_info(file, hints.info()), "set_info");
    std::vector<int> all(1000, -1);
    succeeds(MPI_File_read_at(file, 0, all.data(), 1000, MPI_INT, MPI_STATUS_IGNORE), "read_at");
    expect(all == values, use);
  }
  test::Hints hints;
  hints.set("romio_ds_write", "enable").set("ind_wr_buffer_size", "4096");
  succeeds(MPI_File_set_info(file, hints.info()), "set_info");
  for (int& value : values) value = -value;
  succeeds(MPI_File_write_at(file, 0, values.data(), 1000, MPI_INT, MPI_STATUS_IGNORE), "sieve");
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<char> sieved = test::content_of(name);
  for (int i = 0; i < 1000 * size; ++i) {
    int value = -1;
    std::memcpy(&value, sieved.data() + 4 * static_cast<std::size_t>(i), 4);
    if (value != -i) expect_equal(value, -i, "sieved writes of all ranks are there");
  }
  MPI_Type_free(&gaps);
  MPI_Type_free(&type);
  succeeds(MPI_File_close(&file), "close");
}

void wrong_views_are_refused(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("wrong"), scratch);
  MPI_Datatype odd = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_BYTE, &odd);
  MPI_Type_commit(&odd);
  const int lengths[] = {1, 1};
  const int places[] = {4, 0};
  MPI_Datatype backward = MPI_DATATYPE_NULL;
  MPI_Type_indexed(2, lengths, places, MPI_INT, &backward);
  MPI_Type_commit(&backward);
  const auto view = [&](MPI_Offset at, MPI_Datatype etype, MPI_Datatype type, const char* rep) {
    return MPI_File_set_view(file, at, etype, type, rep, MPI_INFO_NULL);
  };
  expect_class(view(-5, MPI_INT, MPI_INT, "native"), MPI_ERR_ARG, "negative displacement");
  expect_class(view(MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native"), MPI_ERR_ARG,
               "MPI_DISPLACEMENT_CURRENT in a file that is not sequential");
  expect_class(view(0, MPI_INT, odd, "native"), MPI_ERR_TYPE, "not made of etypes");
  expect_class(view(0, MPI_INT, backward, "native"), MPI_ERR_TYPE, "goes backwards");
  // Ranks may differ in their hints.
  test::Hints hints;
  hints.set("cb_buffer_size", "8192");
  succeeds(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native",
                             test::rank_of(MPI_COMM_WORLD) == 0 ? hints.info() : MPI_INFO_NULL),
           "hints at one rank");
  expect_class(view(0, MPI_INT, MPI_INT, "strange"), MPI_ERR_UNSUPPORTED_DATAREP, "representation");
  if (test::size_of(MPI_COMM_WORLD) > 1) {
    MPI_Datatype etype = test::rank_of(MPI_COMM_WORLD) == 1 ? MPI_DOUBLE : MPI_INT;
    expect_class(view(0, etype, etype, "native"), MPI_ERR_NOT_SAME, "etypes differ");
  }
  succeeds(view(0, MPI_INT, MPI_INT, "internal"), "internal");
  short value = 0;
  expect_class(MPI_File_write(file, &value, 1, MPI_SHORT, MPI_STATUS_IGNORE), MPI_ERR_TYPE,
               "half an etype");
  MPI_Type_free(&odd);
  MPI_Type_free(&backward);
  succeeds(MPI_File_close(&file), "close");
}

/// Integers at `places` of every `extent` bytes.
MPI_Datatype scattered(const std::vector<int>& places, MPI_Aint extent) {
  MPI_Datatype list = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(static_cast<int>(places.size()), 1, places.data(), MPI_INT, &list);
  MPI_Type_create_resized(list, 0, extent, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&list);
  return type;
}

/// Repetitions of the filetype lie between each other: 0, 12, 8, 20, 16 ... Whatever hints ask for, no
/// two phases and no sieving are possible.
void repetitions_may_lie_between_each_other(const Folder& folder) {
  constexpr int count = 1000;
  const std::string name = folder.file("between");
  const int rank = test::rank_of(MPI_COMM_WORLD);
  test::Hints hints;
  hints.set("romio_cb_write", "enable").set("romio_cb_read", "enable");
  hints.set("romio_ds_write", "enable").set("romio_ds_read", "enable");
  MPI_File file = open_file(MPI_COMM_WORLD, name, scratch, hints.info());
  MPI_Datatype type = scattered({0, 3}, 8);
  const MPI_Offset begin = MPI_Offset{rank} * (8 * count + 100);
  succeeds(MPI_File_set_view(file, begin, MPI_INT, type, "native", MPI_INFO_NULL), "set_view");
  std::vector<int> values(2 * count);
  for (int i = 0; i < 2 * count; ++i) values[static_cast<std::size_t>(i)] = 10'000 * rank + i;
  MPI_Status status;
  succeeds(MPI_File_write_all(file, values.data(), count, MPI_INT, &status), "write_all");
  succeeds(MPI_File_write(file, values.data() + count, count, MPI_INT, &status), "write");
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<char> content = test::content_of(name);
  for (int i = 0; i < 2 * count; ++i) {
    int value = -1;
    const MPI_Offset at = begin + i / 2 * 8 + i % 2 * 12;
    std::memcpy(&value, content.data() + at, 4);
    if (value != values[static_cast<std::size_t>(i)])
      expect_equal(value, 10'000 * rank + i, "data");
  }
  std::vector<int> back(2 * count, -1);
  succeeds(MPI_File_read_at_all(file, 0, back.data(), 2 * count, MPI_INT, &status), "read_at_all");
  expect(back == values, "collective read");
  std::fill(back.begin(), back.end(), -1);
  succeeds(MPI_File_read_at(file, 0, back.data(), 2 * count, MPI_INT, &status), "read_at");
  expect(back == values, "read");
  // Behind the end of the file begins first the second integer of a repetition.
  if (rank == test::size_of(MPI_COMM_WORLD) - 1) {
    succeeds(MPI_File_seek(file, 0, MPI_SEEK_END), "seek");
    MPI_Offset at = 0;
    succeeds(MPI_File_get_position(file, &at), "get_position");
    expect_equal(at, 2 * count + 1, "behind the last integer");
  }
  succeeds(MPI_File_set_atomicity(file, 1), "set_atomicity");
  succeeds(MPI_File_write_at_all(file, 0, values.data(), 2 * count, MPI_INT, &status), "atomic");
  MPI_Type_free(&type);
  succeeds(MPI_File_close(&file), "close");
}

/// Files that are only read may be seen through types that cover bytes twice.
void bytes_may_be_read_twice(const Folder& folder) {
  const std::string name = folder.file("twice");
  MPI_File file = open_file(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
  int values[] = {0, 1, 2, 3, 4, 5, 6, 7};
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    succeeds(MPI_File_write_at(file, 0, values, 8, MPI_INT, MPI_STATUS_IGNORE), "write");
  }
  MPI_Datatype pairs = scattered({0, 1}, 4);
  MPI_Datatype same = scattered({1, 1, 3}, 16);
  MPI_Datatype back = scattered({3, 1}, 16);
  for (const MPI_Datatype type : {same, back}) {
    expect_class(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_TYPE,
                 "in a file that can be written");
  }
  succeeds(MPI_File_close(&file), "close");
  test::Hints hints;
  hints.set("romio_cb_read", "enable").set("romio_ds_read", "enable");
  file = open_file(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, hints.info());
  const auto expect_data = [&](MPI_Datatype type, const std::vector<int>& expected) {
    succeeds(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), "set_view");
    const int count = static_cast<int>(expected.size());
    for (const auto read : {MPI_File_read_at, MPI_File_read_at_all}) {
      std::vector<int> data(expected.size() + 4, -1);
      MPI_Status status;
      succeeds(read(file, 0, data.data(), count, MPI_INT, &status), "read");
      expect_equal(test::count_of(status, MPI_INT), count, "all there");
      data.resize(expected.size());
      expect(data == expected, "data");
    }
  };
  expect_data(pairs, {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7});
  expect_data(same, {1, 1, 3, 5, 5, 7});
  expect_class(MPI_File_set_view(file, 0, MPI_INT, back, "native", MPI_INFO_NULL), MPI_ERR_TYPE,
               "displacements that decrease");
  for (MPI_Datatype* type : {&pairs, &same, &back}) MPI_Type_free(type);
  succeeds(MPI_File_close(&file), "close");
}

void external32_is_big_endian(const Folder& folder) {
  const std::string name = folder.file("external32");
  MPI_File file =
      open_file(MPI_COMM_SELF, name + std::to_string(test::rank_of(MPI_COMM_WORLD)), scratch);
  MPI_Datatype type = strided(1, 2);
  succeeds(MPI_File_set_view(file, 0, MPI_INT, type, "external32", MPI_INFO_NULL), "set_view");
  const int values[] = {1, 2, 0x01020304};
  MPI_Status status;
  succeeds(MPI_File_write(file, values, 3, MPI_INT, &status), "write");
  expect_equal(test::count_of(status, MPI_INT), 3, "three integers");
  const std::vector<char> content =
      test::content_of(name + std::to_string(test::rank_of(MPI_COMM_WORLD)));
  const char expected[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 3, 4};
  expect(content == std::vector<char>(expected, expected + sizeof expected), "the bytes");
  int back[] = {0, 0, 0, 0};
  succeeds(MPI_File_read_at_all(file, 1, back, 3, MPI_INT, &status), "read");
  expect_equal(test::count_of(status, MPI_INT), 2, "up to the end of the file");
  expect_equal(back[0], 2, "first");
  expect_equal(back[1], 0x01020304, "second");
  MPI_Aint extent = 0;
  succeeds(MPI_File_get_type_extent(file, MPI_LONG_DOUBLE, &extent), "get_type_extent");
  expect_equal(extent, 16, "long double");
  // A type of the language that is shorter in the file: displacements in elements follow.
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 3, MPI_WCHAR, &wide);
  MPI_Type_commit(&wide);
  succeeds(MPI_File_get_type_extent(file, MPI_WCHAR, &extent), "get_type_extent");
  MPI_Aint vector_extent = 0;
  succeeds(MPI_File_get_type_extent(file, wide, &vector_extent), "get_type_extent");
  expect_equal(vector_extent, 4 * extent, "two elements with a gap of two");
  succeeds(MPI_File_set_view(file, 0, MPI_WCHAR, wide, "external32", MPI_INFO_NULL), "set_view");
  MPI_Offset at = 0;
  succeeds(MPI_File_get_byte_offset(file, 1, &at), "get_byte_offset");
  expect_equal(at, 3 * extent, "the second element");
  MPI_Type_free(&wide);
  MPI_Type_free(&type);
  succeeds(MPI_File_close(&file), "close");
}

// A representation with each integer twice: as it is, and negated.
int double_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  int size = 0;
  MPI_Type_size(type, &size);
  *extent = 2 * MPI_Aint{size};
  ++*static_cast<int*>(state);
  return MPI_SUCCESS;
}
int from_doubled(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                 void* /*state*/) {
  if (type != MPI_INT) return MPI_ERR_TYPE;
  const int* from = static_cast<const int*>(file);
  for (int i = 0; i < count; ++i) {
    if (from[2 * i] != -from[2 * i + 1]) return MPI_ERR_OTHER;
    static_cast<int*>(user)[position + i] = from[2 * i];
  }
  return MPI_SUCCESS;
}
int to_doubled(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
               void* /*state*/) {
  if (type != MPI_INT) return MPI_ERR_TYPE;
  int* to = static_cast<int*>(file);
  for (int i = 0; i < count; ++i) {
    to[2 * i] = static_cast<const int*>(user)[position + i];
    to[2 * i + 1] = -to[2 * i];
  }
  return MPI_SUCCESS;
}

void representations_of_the_user(const Folder& folder) {
  static int calls = 0;
  succeeds(MPI_Register_datarep("doubled", from_doubled, to_doubled, double_extent, &calls),
           "register");
  expect_class(MPI_Register_datarep("doubled", from_doubled, to_doubled, double_extent, nullptr),
               MPI_ERR_DUP_DATAREP, "the same name again");
  expect_class(MPI_Register_datarep("native", from_doubled, to_doubled, double_extent, nullptr),
               MPI_ERR_DUP_DATAREP, "a name of the standard");
  succeeds(MPI_Register_datarep(
               "plain", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
               [](MPI_Datatype type, MPI_Aint* extent, void*) {
                 MPI_Aint lb = 0;
                 return MPI_Type_get_extent(type, &lb, extent);
               },
               nullptr),
           "register without conversions");
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("user"), scratch);
  succeeds(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "doubled", MPI_INFO_NULL), "set_view");
  expect(calls > 0, "the extent was asked for");
  int values[] = {10 * rank + 1, 10 * rank + 2, 10 * rank + 3};
  MPI_Status status;
  succeeds(MPI_File_write_at_all(file, 3 * rank, values, 3, MPI_INT, &status), "write");
  int back[] = {0, 0, 0};
  succeeds(MPI_File_read_at(file, 3 * rank, back, 3, MPI_INT, &status), "read");
  expect_equal(test::count_of(status, MPI_INT), 3, "three integers");
  expect(std::memcmp(values, back, sizeof back) == 0, "what was written");
  MPI_Offset at = 0;
  succeeds(MPI_File_get_byte_offset(file, 5, &at), "get_byte_offset");
  expect_equal(at, 40, "eight bytes each");
  MPI_Request request = MPI_REQUEST_NULL;
  succeeds(MPI_File_iread_at(file, 3 * rank, back, 3, MPI_INT, &request), "iread_at");
  succeeds(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
  expect_class(MPI_File_write_at(file, 0, values, 3, MPI_FLOAT, MPI_STATUS_IGNORE),
               MPI_ERR_CONVERSION, "a function that fails");
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "plain", MPI_INFO_NULL), "set_view");
  succeeds(MPI_File_read_at(file, 0, back, 2, MPI_INT, MPI_STATUS_IGNORE), "read");
  expect(back[0] == 1 && back[1] == -1, "as it is in the file");
  succeeds(MPI_File_close(&file), "close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Folder folder;
    offsets_follow_the_view(folder);
    data_lie_where_the_view_says(folder);
    wrong_views_are_refused(folder);
    repetitions_may_lie_between_each_other(folder);
    bytes_may_be_read_twice(folder);
    external32_is_big_endian(folder);
    representations_of_the_user(folder);
  }
  return test::finish();
}
