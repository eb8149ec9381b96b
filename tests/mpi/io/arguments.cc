// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Arguments that are wrong at one rank of a collective call: it gets its error, and the others end
// with the same one. Then the file goes on. Filetypes without data; offsets that no file has.
// ranks: 1 2 3

#include <mpi.h>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::succeeds;

/// What the calls of a rank have in common. At the rank that is `wrong` one argument is bad.
struct Case {
  MPI_File file;
  bool wrong;
  int values[2] = {1, 2};
  MPI_Status status{};

  [[nodiscard]] int* no_buffer() { return wrong ? nullptr : values; }
  [[nodiscard]] int no_count() const { return wrong ? -1 : 2; }
  [[nodiscard]] MPI_Datatype no_type() const { return wrong ? MPI_DATATYPE_NULL : MPI_INT; }
};

void opening(const std::string& name, bool wrong) {
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_File file = MPI_FILE_NULL;
  expect_class(
      MPI_File_open(comm, wrong ? nullptr : name.c_str(), test::scratch, MPI_INFO_NULL, &file),
      MPI_ERR_ARG, "no name");
  expect_class(MPI_File_open(comm, name.c_str(), wrong ? 0 : test::scratch, MPI_INFO_NULL, &file),
               MPI_ERR_AMODE, "no mode");
  expect_class(
      MPI_File_open(comm, name.c_str(), test::scratch, MPI_INFO_NULL, wrong ? nullptr : &file),
      MPI_ERR_ARG, "no place for the handle");
  expect(file == MPI_FILE_NULL, "no file");
}

void views(Case& all) {
  expect_class(MPI_File_set_view(all.file, 0, all.no_type(), MPI_INT, "native", MPI_INFO_NULL),
               MPI_ERR_TYPE, "no etype");
  expect_class(MPI_File_set_view(all.file, 0, MPI_INT, MPI_INT, all.wrong ? nullptr : "native",
                                 MPI_INFO_NULL),
               MPI_ERR_ARG, "no representation");
  MPI_Offset displacement = -1;
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  char name[MPI_MAX_DATAREP_STRING];
  succeeds(MPI_File_get_view(all.file, &displacement, &etype, &filetype, name), "get_view");
  expect(etype == MPI_BYTE && filetype == MPI_BYTE, "the view is what it was");
}

void blocking(Case& all) {
  MPI_Status* status = &all.status;
  expect_class(MPI_File_write_all(all.file, all.no_buffer(), 2, MPI_INT, status), MPI_ERR_BUFFER,
               "no buffer");
  expect_class(MPI_File_write_at_all(all.file, 0, all.values, all.no_count(), MPI_INT, status),
               MPI_ERR_COUNT, "a negative count");
  expect_class(MPI_File_write_ordered(all.file, all.values, 2, all.no_type(), status), MPI_ERR_TYPE,
               "no datatype");
  expect_class(MPI_File_read_all_c(all.file, all.values, all.no_count(), MPI_INT, status),
               MPI_ERR_COUNT, "a negative count");
}

/// `code` comes from a call that starts something, which `end` completes where it was started.
template <class End>
void later(const Case& all, int code, int error, const End& end) {
  expect_class(code, all.wrong ? error : MPI_SUCCESS, "the start");
  if (!all.wrong) expect_class(end(), error, "the end");
}

void started(Case& all) {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto wait = [&] { return MPI_Wait(&request, &all.status); };
  later(all, MPI_File_iread_at_all(all.file, 0, all.values, all.no_count(), MPI_INT, &request),
        MPI_ERR_COUNT, wait);
  later(all, MPI_File_iwrite_all(all.file, all.values, 2, all.no_type(), &request), MPI_ERR_TYPE,
        wait);
  later(all, MPI_File_write_ordered_begin(all.file, all.no_buffer(), 2, MPI_INT), MPI_ERR_BUFFER,
        [&] { return MPI_File_write_ordered_end(all.file, all.values, &all.status); });
  later(all, MPI_File_read_all_begin(all.file, all.no_buffer(), 2, MPI_INT), MPI_ERR_BUFFER,
        [&] { return MPI_File_read_all_end(all.file, all.values, &all.status); });
}

/// Hints that the ranks must have in common are those of rank 0.
void different_hints(Case& all, int rank) {
  const char* window = rank == 0 ? "8192" : "65536";
  test::Hints hints;
  hints.set("romio_cb_write", rank == 0 ? "enable" : "disable").set("cb_buffer_size", window);
  hints.set("romio_cb_read", rank == 0 ? "disable" : "enable");
  succeeds(MPI_File_set_info(all.file, hints.info()), "set_info");
  expect(test::Hints::value(all.file, "romio_cb_write") == "enable", "rank 0 says so");
  expect(test::Hints::value(all.file, "cb_buffer_size") == "8192", "rank 0 says so");
  succeeds(MPI_File_set_view(all.file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "view");
  std::vector<int> values(20000, rank);
  std::vector<int> back(20000, -1);
  const MPI_Offset offset = MPI_Offset{80000} * rank;
  succeeds(MPI_File_write_at_all(all.file, offset, values.data(), 20000, MPI_INT, &all.status),
           "write");
  succeeds(MPI_File_read_at_all(all.file, offset, back.data(), 20000, MPI_INT, &all.status),
           "read");
  expect(back == values, "the data");
}

/// A rank without data gives a filetype without data.
void empty_filetype(Case& all, int rank) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(rank == 0 ? 0 : 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  succeeds(MPI_File_set_view(all.file, 0, MPI_INT, type, "native", MPI_INFO_NULL), "set_view");
  const int count = rank == 0 ? 0 : 2;
  succeeds(MPI_File_write_at_all(all.file, 0, all.values, count, MPI_INT, &all.status), "write");
  succeeds(MPI_File_read_at_all(all.file, 0, all.values, count, MPI_INT, &all.status), "read");
  expect_equal(test::count_of(all.status, MPI_INT), count, "elements");
  if (rank == 0) {
    expect_class(MPI_File_read(all.file, all.values, 1, MPI_INT, &all.status), MPI_ERR_TYPE,
                 "data through it");
    MPI_Offset offset = -1;
    succeeds(MPI_File_seek(all.file, 0, MPI_SEEK_END), "seek");
    succeeds(MPI_File_get_position(all.file, &offset), "get_position");
    expect_equal(offset, MPI_Offset{0}, "the end is the beginning");
    expect_class(MPI_File_get_byte_offset(all.file, 0, &offset), MPI_ERR_ARG, "no byte is there");
  }
  MPI_Type_free(&type);
}

/// Offsets that no file has, in views with and without gaps.
void huge_offsets(Case& all) {
  MPI_Datatype gaps = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 12, &gaps);
  MPI_Type_commit(&gaps);
  for (MPI_Datatype filetype : {MPI_INT, gaps}) {
    succeeds(MPI_File_set_view(all.file, 8, MPI_INT, filetype, "native", MPI_INFO_NULL), "view");
    for (const MPI_Offset offset : {MPI_Offset{1} << 60, (MPI_Offset{1} << 61) - 1}) {
      expect_class(MPI_File_read_at(all.file, offset, all.values, 2, MPI_INT, &all.status),
                   MPI_ERR_ARG, "read_at");
      expect_class(MPI_File_write_at_all(all.file, offset, all.values, 2, MPI_INT, &all.status),
                   MPI_ERR_ARG, "write_at_all");
      MPI_Offset byte = 0;
      expect_class(MPI_File_get_byte_offset(all.file, offset, &byte), MPI_ERR_ARG, "byte_offset");
      succeeds(MPI_File_seek_shared(all.file, offset, MPI_SEEK_SET), "seek_shared");
      expect_class(MPI_File_write_ordered(all.file, all.values, 2, MPI_INT, &all.status),
                   MPI_ERR_ARG, "write_ordered");
    }
    succeeds(MPI_File_seek_shared(all.file, 0, MPI_SEEK_SET), "seek_shared");
  }
  MPI_Type_free(&gaps);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    const int rank = test::rank_of(MPI_COMM_WORLD);
    for (int bad = 0; bad < test::size_of(MPI_COMM_WORLD); ++bad) {
      opening(folder.file("none"), rank == bad);
      Case all{test::open_file(MPI_COMM_WORLD, folder.file("arguments"), test::scratch),
               rank == bad};
      views(all);
      blocking(all);
      started(all);
      MPI_Offset position = -1;
      succeeds(MPI_File_get_position_shared(all.file, &position), "get_position_shared");
      expect_equal(position, MPI_Offset{0}, "nobody took a turn");
      empty_filetype(all, rank);
      huge_offsets(all);
      different_hints(all, rank);
      succeeds(MPI_File_close(&all.file), "close");
    }
  }
  return test::finish();
}
