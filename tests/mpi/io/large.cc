// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Calls that move many bytes at once, in all forms, with and without an exchange, with conversion: their counts and their
// data. How many bytes a rank moves is the argument: few here, more than 2^31 in the soak (tests/soak.d/files).
// ranks: 1 2

#include <mpi.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_equal;
using test::succeeds;

constexpr MPI_Count few = (MPI_Count{3} << 20) + 77;

class Program {
 public:
  Program(const test::Folder& folder, MPI_Count bytes, const char* two_phases)
      : bytes_(bytes),
        values_(new char[static_cast<std::size_t>(bytes)]),
        back_(new char[static_cast<std::size_t>(bytes)]) {
    std::uint32_t value = static_cast<std::uint32_t>(rank_) + 1;
    for (MPI_Count i = 0; i < bytes; ++i) {
      value = value * 1664525 + 1013904223;
      values_[static_cast<std::size_t>(i)] = static_cast<char>(value >> 24);
    }
    test::Hints hints;
    hints.set("collective_buffering", two_phases);
    file_ = test::open_file(MPI_COMM_WORLD, folder.file("large"), test::scratch, hints.info());
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { succeeds(MPI_File_close(&file_), "close"); }

  void bytes_at_offsets() {
    const MPI_Offset begin = bytes_ * rank_;
    succeeds(MPI_File_write_at_all_c(file_, begin, values_.get(), bytes_, MPI_BYTE, &status_), "w");
    expect_count(MPI_BYTE, bytes_);
    MPI_Request request = MPI_REQUEST_NULL;
    forget();
    succeeds(MPI_File_iread_at_c(file_, begin, back_.get(), bytes_, MPI_BYTE, &request), "iread");
    succeeds(MPI_Wait(&request, &status_), "wait");
    expect_data(MPI_BYTE, 1, bytes_);
    succeeds(MPI_File_read_at_all_c(file_, begin, back_.get(), bytes_, MPI_BYTE, &status_), "r");
    expect_data(MPI_BYTE, 1, bytes_);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// Blocks of the ranks in turns.
  void converted_in_turns() {
    constexpr int block = 50000;
    const int ranks = test::size_of(MPI_COMM_WORLD);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int sizes[] = {block * ranks};
    const int own[] = {block};
    const int starts[] = {block * rank_};
    MPI_Type_create_subarray(1, sizes, own, starts, MPI_ORDER_C, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    succeeds(MPI_File_set_view(file_, 0, MPI_SHORT, type, "external32", MPI_INFO_NULL), "view");
    MPI_Type_free(&type);
    const MPI_Count count = bytes_ / 2;
    MPI_Request request = MPI_REQUEST_NULL;
    succeeds(MPI_File_iwrite_all_c(file_, values_.get(), count, MPI_SHORT, &request), "iwrite_all");
    succeeds(MPI_Wait(&request, &status_), "wait");
    expect_count(MPI_SHORT, count);
    succeeds(MPI_File_seek(file_, 0, MPI_SEEK_SET), "seek");
    MPI_Barrier(MPI_COMM_WORLD);
    succeeds(MPI_File_read_all_begin_c(file_, back_.get(), count, MPI_SHORT), "begin");
    succeeds(MPI_File_read_all_end(file_, back_.get(), &status_), "end");
    expect_data(MPI_SHORT, 2, count);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// One element of a long datatype.
  void one_after_the_other() {
    MPI_Datatype all = MPI_DATATYPE_NULL;
    MPI_Type_contiguous_c(bytes_, MPI_BYTE, &all);
    MPI_Type_commit(&all);
    succeeds(MPI_File_set_view(file_, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "view");
    succeeds(MPI_File_set_size(file_, 0), "set_size");
    succeeds(MPI_File_write_ordered(file_, values_.get(), 1, all, &status_), "write_ordered");
    expect_count(all, 1);
    expect_count(MPI_BYTE, bytes_);
    MPI_Offset position = -1;
    succeeds(MPI_File_get_position_shared(file_, &position), "position");
    expect_equal(position, bytes_ * test::size_of(MPI_COMM_WORLD), "behind all");
    MPI_Barrier(MPI_COMM_WORLD);
    succeeds(MPI_File_seek_shared(file_, 0, MPI_SEEK_SET), "seek_shared");
    succeeds(MPI_File_read_ordered_c(file_, back_.get(), bytes_, MPI_BYTE, &status_), "ordered");
    expect_data(MPI_BYTE, 1, bytes_);
    MPI_Type_free(&all);
  }

 private:
  void forget() { std::memset(back_.get(), 0, static_cast<std::size_t>(bytes_)); }

  /// What does not fit an int is MPI_UNDEFINED in one.
  void expect_count(MPI_Datatype type, MPI_Count count) {
    MPI_Count found = -1;
    MPI_Get_count_c(&status_, type, &found);
    expect_equal(found, count, "the count");
    const MPI_Count as_int = count > INT_MAX ? MPI_Count{MPI_UNDEFINED} : count;
    expect_equal(test::count_of(status_, type), as_int, "the count as an int");
  }
  void expect_data(MPI_Datatype type, int size, MPI_Count count) {
    expect_count(type, count);
    const auto length = static_cast<std::size_t>(size * count);
    expect(std::memcmp(values_.get(), back_.get(), length) == 0, "the data");
    forget();
  }

  MPI_Count bytes_;
  int rank_ = test::rank_of(MPI_COMM_WORLD);
  std::unique_ptr<char[]> values_;
  std::unique_ptr<char[]> back_;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Status status_{};
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    const MPI_Count bytes = argc > 1 ? std::atoll(argv[1]) : few;
    for (const char* two_phases : {"disable", "enable"}) {
      Program program(folder, bytes, two_phases);
      program.bytes_at_offsets();
      program.converted_in_turns();
      program.one_after_the_other();
    }
  }
  return test::finish();
}
