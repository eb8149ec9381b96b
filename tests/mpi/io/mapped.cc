// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Short runs between gaps, which go through mapped memory where the file system allows it: exactly their
// bytes are written, also in a file that grows or is open for writing only; reads end where the file does. Long runs go
// there, too, in a file system without a device (/dev/shm), when they are accessed again.
// ranks: 1 2 4

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "support/files.h"

namespace {

using namespace test;  // NOLINT: most of it is used here

/// How each rank's data lie in the file.
struct Shape {
  int run_bytes;
  int runs;
};
constexpr Shape short_runs = {60, 6000};
constexpr Shape long_runs = {100'003, 11};

struct Case {
  int run_bytes;
  int runs;
  int bytes = run_bytes * runs;
  int rank = test::rank_of(MPI_COMM_WORLD);
  int size = test::size_of(MPI_COMM_WORLD);
  /// Of all ranks in turns, and then 4 unused bytes for each.
  int stride = size * (run_bytes + 4);
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<char> values = std::vector<char>(static_cast<std::size_t>(bytes));

  explicit Case(std::string its_name, Shape shape = short_runs)
      : run_bytes(shape.run_bytes), runs(shape.runs), name(std::move(its_name)) {
    MPI_Datatype run = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(run_bytes, MPI_BYTE, &run);
    MPI_Type_create_resized(run, 0, stride, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&run);
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  ~Case() { MPI_Type_free(&type); }

  /// Of the run of that number, of that rank, in that round.
  [[nodiscard]] char value(int round, int of_rank, int at) const {
    return static_cast<char>(1 + (round * 31 + of_rank * 7 + at / run_bytes + at) % 100);
  }
  void fill(int round) {
    for (int i = 0; i < bytes; ++i) values[static_cast<std::size_t>(i)] = value(round, rank, i);
  }
  void set_view(MPI_File file) const {
    succeeds(MPI_File_set_view(file, MPI_Offset{run_bytes + 4} * rank, MPI_BYTE, type, "native",
                               MPI_INFO_NULL),
             "set_view");
  }
  [[nodiscard]] long file_bytes() const { return long{stride} * (runs - 1) + stride - 4; }

  /// The runs of all ranks, and `gap` between them.
  void check_file(int round, char gap) const {
    const std::vector<char> content = test::content_of(name);
    expect_equal(static_cast<long>(content.size()), file_bytes(),
                 "the file ends with the last run");
    for (long i = 0; i < std::min(static_cast<long>(content.size()), file_bytes()); ++i) {
      const int in_stride = static_cast<int>(i % stride);
      const int of_rank = in_stride / (run_bytes + 4);
      const int in_run = in_stride % (run_bytes + 4);
      const int at = static_cast<int>(i / stride) * run_bytes + in_run;
      const char expected = in_run < run_bytes ? value(round, of_rank, at) : gap;
      if (content[static_cast<std::size_t>(i)] == expected) continue;
      return expect_equal(static_cast<int>(content[static_cast<std::size_t>(i)]),
                          static_cast<int>(expected), "a byte of the file");
    }
  }
};

void only_the_runs_are_written(const std::string& name, Shape shape, bool collective) {
  Case all(name, shape);
  MPI_File file = open_file(MPI_COMM_WORLD, all.name, scratch);
  all.set_view(file);
  const auto write = collective ? MPI_File_write_at_all : MPI_File_write_at;
  const auto read = collective ? MPI_File_read_at_all : MPI_File_read_at;
  for (int round = 0; round < 3; ++round) {
    all.fill(round);
    succeeds(write(file, 0, all.values.data(), all.bytes, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    MPI_Barrier(MPI_COMM_WORLD);
    if (all.rank == 0) all.check_file(round, '\0');
    std::vector<char> back(all.values.size(), 'x');
    MPI_Status status;
    succeeds(read(file, 0, back.data(), all.bytes, MPI_BYTE, &status), "read");
    expect_equal(test::count_of(status, MPI_BYTE), all.bytes, "all of it");
    expect(back == all.values, "what was written is read");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  succeeds(MPI_File_close(&file), "close");
}

void gaps_keep_what_others_write(const Folder& folder) {
  Case all(folder.file("gaps"));
  MPI_File file = open_file(MPI_COMM_WORLD, all.name, scratch);
  if (all.rank == 0) {
    const std::vector<char> gaps(static_cast<std::size_t>(all.file_bytes()), 'g');
    succeeds(MPI_File_write_at(file, 0, gaps.data(), static_cast<int>(gaps.size()), MPI_BYTE,
                               MPI_STATUS_IGNORE),
             "write");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  all.set_view(file);
  // No rank waits for another: the bytes beside a rank's runs change while it writes.
  for (int round = 0; round < 20; ++round) {
    all.fill(round);
    succeeds(MPI_File_write_at(file, 0, all.values.data(), all.bytes, MPI_BYTE, MPI_STATUS_IGNORE),
             "write_at");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (all.rank == 0) all.check_file(19, 'g');
  succeeds(MPI_File_close(&file), "close");
}

void a_file_for_writing_only_is_written(const Folder& folder) {
  Case all(folder.file("written"));
  MPI_File file = open_file(MPI_COMM_WORLD, all.name,
                            MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE);
  all.set_view(file);
  all.fill(5);
  succeeds(MPI_File_write_all(file, all.values.data(), all.bytes, MPI_BYTE, MPI_STATUS_IGNORE),
           "write_all");
  MPI_Barrier(MPI_COMM_WORLD);
  if (all.rank == 0) all.check_file(5, '\0');
  succeeds(MPI_File_close(&file), "close");
}

void reads_end_with_the_file(const Folder& folder, const char* use) {
  Case all(folder.file("end"));
  test::Hints hints;
  hints.set("fulmar_mapped", use);
  MPI_File file = open_file(MPI_COMM_WORLD, all.name, scratch, hints.info());
  expect(test::Hints::value(file, "fulmar_mapped") == use, "the hint is in effect");
  all.set_view(file);
  all.fill(1);
  succeeds(MPI_File_write_all(file, all.values.data(), all.bytes, MPI_BYTE, MPI_STATUS_IGNORE),
           "write_all");
  // Of the last of 5000 whole strides and the beginning of one more, 10 bytes of each rank's run are there.
  const int there = 5000 * all.run_bytes + 10;
  for (int round = 0; round < 3; ++round) {
    const MPI_Offset end =
        MPI_Offset{5000} * all.stride + MPI_Offset{all.run_bytes + 4} * all.rank + 10;
    for (int turn = 0; turn < all.size; ++turn) {
      MPI_Offset size = end;
      MPI_Bcast(&size, 1, MPI_OFFSET, turn, MPI_COMM_WORLD);
      succeeds(MPI_File_set_size(file, size), "set_size");
      if (turn == all.rank) {
        std::vector<char> back(all.values.size(), 'x');
        MPI_Status status;
        succeeds(MPI_File_read_at(file, 0, back.data(), all.bytes, MPI_BYTE, &status), "read_at");
        expect_equal(test::count_of(status, MPI_BYTE), there, "as far as the file goes");
        expect(std::equal(back.begin(), back.begin() + there, all.values.begin()), "the data");
        expect(std::all_of(back.begin() + there, back.end(), [](char c) { return c == 'x'; }),
               "nothing behind them");
      }
      MPI_Barrier(MPI_COMM_WORLD);
      succeeds(
          MPI_File_write_at_all(file, 0, all.values.data(), all.bytes, MPI_BYTE, MPI_STATUS_IGNORE),
          "the file grows again");
    }
  }
  succeeds(MPI_File_close(&file), "close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Folder folder;
    const Folder in_memory("/dev/shm");
    for (const bool collective : {false, true}) {
      only_the_runs_are_written(folder.file("runs"), short_runs, collective);
      only_the_runs_are_written(folder.file("long_runs"), long_runs, collective);
      only_the_runs_are_written(in_memory.file("long_runs"), long_runs, collective);
    }
    gaps_keep_what_others_write(folder);
    a_file_for_writing_only_is_written(folder);
    reads_end_with_the_file(folder, "automatic");
    reads_end_with_the_file(folder, "disable");
  }
  return test::finish();
}
