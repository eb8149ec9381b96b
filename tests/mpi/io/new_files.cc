// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Long writes with gaps into new files, of which the library may ask the system for large pages and reserve the space:
// exactly the runs are written, gaps are zero and the file ends with the last run, whether space can be reserved or not.
// ranks: 1 2 4

#include <fcntl.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "support/files.h"

namespace {

/// What reserving space does from now on; EINTR: once, then it works.
std::atomic<int> problem{0};

}  // namespace

extern "C" int fallocate(int file, int mode, off_t offset, off_t bytes) {
  const int now = problem.load();
  if (now == EINTR) problem = 0;
  if (now != 0) {
    errno = now;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fallocate, file, mode, offset, bytes));
}

namespace {

using namespace test;  // NOLINT: most of it is used here

/// Runs of the ranks in turns, with a gap behind those of all.
struct Pattern {
  long run;
  long gap;
  long runs;   ///< of all ranks
  long start;  ///< of the first rank's first run
};

class NewFile {
 public:
  NewFile(const Folder& folder, const Pattern& pattern)
      : pattern_(pattern),
        runs_(pattern.runs / size_),
        name_(folder.file("new")),
        stride_(pattern.run * size_ + pattern.gap),
        values_(static_cast<std::size_t>(pattern.run * runs_)) {
    MPI_Datatype run = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(pattern.run), MPI_BYTE, &run);
    MPI_Type_create_resized(run, 0, stride_, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&run);
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = value(rank_, i);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() { MPI_Type_free(&type_); }

  /// All of it in one call, or in two, the later half first.
  void write(int mode, bool halves, bool collective) {
    MPI_File file = open_file(MPI_COMM_WORLD, name_, mode | MPI_MODE_DELETE_ON_CLOSE);
    succeeds(MPI_File_set_view(file, pattern_.start + pattern_.run * rank_, MPI_BYTE, type_,
                               "native", MPI_INFO_NULL),
             "set_view");
    const long all = static_cast<long>(values_.size());
    const long middle = halves ? all / 2 / pattern_.run * pattern_.run + pattern_.run / 3 : 0;
    const auto call = collective ? MPI_File_write_at_all : MPI_File_write_at;
    for (const auto& [first, end] : {std::pair{middle, all}, std::pair{0L, middle}}) {
      succeeds(call(file, first, values_.data() + first, static_cast<int>(end - first), MPI_BYTE,
                    MPI_STATUS_IGNORE),
               "write_at");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) check();
    MPI_Barrier(MPI_COMM_WORLD);
    succeeds(MPI_File_close(&file), "close");
  }

 private:
  [[nodiscard]] static char value(int of_rank, std::size_t at) {
    return static_cast<char>(1 + (static_cast<std::size_t>(of_rank) * 7 + at + at / 1000) % 100);
  }
  [[nodiscard]] char expected(long offset) const {
    const long in_stride = (offset - pattern_.start) % stride_;
    if (offset < pattern_.start || in_stride >= pattern_.run * size_) return '\0';
    const long at = (offset - pattern_.start) / stride_ * pattern_.run + in_stride % pattern_.run;
    return value(static_cast<int>(in_stride / pattern_.run), static_cast<std::size_t>(at));
  }
  void check() const {
    const std::vector<char> content = content_of(name_);
    const auto length = static_cast<long>(content.size());
    expect_equal(length, pattern_.start + stride_ * runs_ - pattern_.gap,
                 "the file ends with the last run");
    for (long i = 0; i < length; ++i) {
      const char found = content[static_cast<std::size_t>(i)];
      if (found != expected(i)) {
        return expect_equal(static_cast<int>(found), static_cast<int>(expected(i)), "a byte");
      }
    }
  }

  Pattern pattern_;
  int rank_ = rank_of(MPI_COMM_WORLD);
  int size_ = size_of(MPI_COMM_WORLD);
  long runs_;
  std::string name_;
  long stride_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::vector<char> values_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Folder folder;
    // Blocks that are filled to their ends; parts of blocks; more than is mapped at a time; runs that calls move else.
    const Pattern patterns[] = {{1024, 0, 4096, 0},
                                {1000, 500, 4200, 777},
                                {1024, 1024, 9000, (15L << 20) + 5},
                                {16384, 0, 256, 0},
                                {20000, 3000, 210, 12345}};
    for (const Pattern& pattern : patterns) {
      NewFile file(folder, pattern);
      file.write(MPI_MODE_CREATE | MPI_MODE_RDWR, false, false);
      file.write(MPI_MODE_CREATE | MPI_MODE_WRONLY, true, true);
    }
    for (const int failure : {EINTR, EOPNOTSUPP, ENOSPC}) {
      NewFile file(folder, patterns[1]);
      problem = failure;
      file.write(MPI_MODE_CREATE | MPI_MODE_RDWR, false, false);
      problem = 0;
    }
  }
  return finish();
}
