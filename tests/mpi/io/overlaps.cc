// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Filetypes whose repetitions begin before the last one ends, in files that can be written: only what a
// filetype itself covers twice is refused (MPI 5.0 section 14.3). HDF5 makes such types of selections in chunks.
// ranks: 1 2 4

#include <mpi.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/files.h"

namespace {

using namespace test;  // NOLINT: most of it is used here

constexpr int chunks = 20;
constexpr int chunk_integers = 7;

/// A rank's chunks, with those of the other ranks between them. Only the last has explicit bounds, which
/// become those of the whole type (MPI 5.0 section 5.1.6): its extent is much shorter than what it covers.
MPI_Datatype chunks_of(int rank, int size) {
  const MPI_Aint bytes = chunk_integers * MPI_Aint{sizeof(int)};
  MPI_Datatype chunk = MPI_DATATYPE_NULL;
  MPI_Datatype last = MPI_DATATYPE_NULL;
  MPI_Datatype all = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(chunk_integers, MPI_INT, &chunk);
  MPI_Type_create_resized(chunk, 0, bytes, &last);
  std::vector<int> lengths(chunks, 1);
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types(chunks, chunk);
  types.back() = last;
  for (int i = 0; i < chunks; ++i) places.push_back((MPI_Aint{i} * size + rank) * bytes);
  MPI_Type_create_struct(chunks, lengths.data(), places.data(), types.data(), &all);
  MPI_Type_commit(&all);
  MPI_Type_free(&chunk);
  MPI_Type_free(&last);
  MPI_Aint first = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(all, &first, &extent);
  expect_equal(extent, bytes, "the extent is that of the last chunk");
  return all;
}

/// Integer `at` of the file, which all ranks have written together.
int value_at(int at, int turn) { return 1000 * turn + at; }

void chunks_are_written_once(const Folder& folder, const char* two_phases) {
  const std::string name = folder.file("chunks");
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  test::Hints hints;
  hints.set("romio_cb_write", two_phases).set("romio_cb_read", two_phases);
  hints.set("cb_buffer_size", "4096");
  MPI_File file = open_file(MPI_COMM_WORLD, name, scratch, hints.info());
  MPI_Datatype type = chunks_of(rank, size);
  succeeds(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), "set_view");
  int turn = 0;
  for (const auto write : {MPI_File_write_at_all, MPI_File_write_at}) {
    ++turn;
    std::vector<int> values;
    for (int i = 0; i < chunks; ++i) {
      for (int j = 0; j < chunk_integers; ++j) {
        values.push_back(value_at((i * size + rank) * chunk_integers + j, turn));
      }
    }
    const int count = static_cast<int>(values.size());
    MPI_Status status;
    succeeds(write(file, 0, values.data(), count, MPI_INT, &status), "write");
    expect_equal(test::count_of(status, MPI_INT), count, "all of it");
    MPI_Barrier(MPI_COMM_WORLD);
    const std::vector<char> content = test::content_of(name);
    expect_equal(static_cast<long>(content.size()), 4L * count * size, "the length of the file");
    for (int at = 0; at < count * size; ++at) {
      int value = -1;
      std::memcpy(&value, content.data() + 4 * static_cast<std::size_t>(at), 4);
      if (value != value_at(at, turn)) expect_equal(value, value_at(at, turn), "in the file");
    }
    for (const auto read : {MPI_File_read_at_all, MPI_File_read_at}) {
      std::vector<int> back(values.size(), -1);
      succeeds(read(file, 0, back.data(), count, MPI_INT, &status), "read");
      expect_equal(test::count_of(status, MPI_INT), count, "all of it is read");
      expect(back == values, "what was written");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&type);
  succeeds(MPI_File_close(&file), "close");
}

/// Of what several repetitions have in one place, some is there.
void repetitions_over_each_other(const Folder& folder) {
  constexpr int count = 100;
  const std::string name = folder.file("over") + std::to_string(test::rank_of(MPI_COMM_WORLD));
  test::Hints hints;
  hints.set("romio_ds_write", "enable").set("romio_ds_read", "enable");
  MPI_File file = open_file(MPI_COMM_SELF, name, scratch, hints.info());
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, sizeof(int), &type);
  MPI_Type_commit(&type);
  succeeds(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), "set_view");
  std::vector<int> values(2 * count);
  for (int i = 0; i < 2 * count; ++i) values[static_cast<std::size_t>(i)] = i + 1;
  succeeds(MPI_File_write_at(file, 0, values.data(), 2 * count, MPI_INT, MPI_STATUS_IGNORE),
           "write");
  const std::vector<char> content = test::content_of(name);
  expect_equal(static_cast<long>(content.size()), 4L * (count + 1), "the length of the file");
  for (int at = 0; at <= count; ++at) {
    int value = 0;
    std::memcpy(&value, content.data() + 4 * static_cast<std::size_t>(at), 4);
    expect(value == 2 * at || value == 2 * at + 1,
           "the second of a pair, or the first of the next");
  }
  std::vector<int> back(2 * count, 0);
  succeeds(MPI_File_read_at(file, 0, back.data(), 2 * count, MPI_INT, MPI_STATUS_IGNORE), "read");
  for (std::size_t i = 2; i < back.size(); i += 2) {
    expect_equal(back[i], back[i - 1], "the same integer twice");
  }
  MPI_Type_free(&pair);
  MPI_Type_free(&type);
  succeeds(MPI_File_close(&file), "close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Folder folder;
    for (const char* use : {"automatic", "enable", "disable"}) chunks_are_written_once(folder, use);
    repetitions_over_each_other(folder);
  }
  return test::finish();
}
