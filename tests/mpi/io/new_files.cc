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
#include <span>

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
        values_(static_cast<std::size_t>(pattern.run * runs_)),
        row_(static_cast<std::size_t>(pattern.run + period)) {
    MPI_Datatype run = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(pattern.run), MPI_BYTE, &run);
    MPI_Type_create_resized(run, 0, stride_, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&run);
    for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = static_cast<char>(1 + i % period);
    for (long i = 0; i < runs_; ++i) {
      std::ranges::copy(values_of(rank_, i * pattern_.run), values_.begin() + i * pattern_.run);
    }
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
  /// What the first `run` bytes from `at` on of that rank's data are: a part of a row that repeats itself.
  [[nodiscard]] std::span<const char> values_of(int of_rank, long at) const {
    const auto first = static_cast<std::size_t>((of_rank * 7 + at) % period);
    return std::span(row_).subspan(first, static_cast<std::size_t>(pattern_.run));
  }
  [[nodiscard]] bool is_right(std::span<const char> stride, long number) const {
    for (int of_rank = 0; of_rank < size_; ++of_rank) {
      const auto run = static_cast<std::size_t>(pattern_.run);
      const auto found = stride.subspan(static_cast<std::size_t>(of_rank) * run, run);
      if (!std::ranges::equal(found, values_of(of_rank, number * pattern_.run))) return false;
    }
    return is_zero(stride.subspan(static_cast<std::size_t>(pattern_.run * size_)));
  }
  [[nodiscard]] static bool is_zero(std::span<const char> part) {
    return std::ranges::all_of(part, [](char c) { return c == 0; });
  }
  void check() const {
    std::vector<char> content = content_of(name_);
    expect_equal(static_cast<long>(content.size()), pattern_.start + stride_ * runs_ - pattern_.gap,
                 "the file ends with the last run");
    content.resize(static_cast<std::size_t>(pattern_.start + stride_ * runs_));
    const auto start = static_cast<std::size_t>(pattern_.start);
    expect(is_zero(std::span(content).first(start)), "nothing before the first run");
    for (long i = 0; i < runs_; ++i) {
      const auto stride = static_cast<std::size_t>(stride_);
      const std::size_t at = start + static_cast<std::size_t>(i) * stride;
      if (!is_right(std::span(content).subspan(at, stride), i)) {
        return expect_equal(i, -1L, "a run of some rank, or the gap behind");
      }
    }
  }

  static constexpr int period = 101;
  Pattern pattern_;
  int rank_ = rank_of(MPI_COMM_WORLD);
  int size_ = size_of(MPI_COMM_WORLD);
  long runs_;
  std::string name_;
  long stride_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::vector<char> values_;
  std::vector<char> row_;
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
