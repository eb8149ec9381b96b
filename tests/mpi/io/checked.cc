// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// FULMAR_CHECK=files: what a file system loses, what others write, and ranks that write the same bytes in
// one call. The program has the functions of the system that the library calls.
// ranks: 1 2 4
// networks: tcp
// env: FULMAR_CHECK=files

#include <fcntl.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "support/files.h"
#include "support/performance_variable.h"

namespace {

/// One write of this process keeps its last byte to itself, and says that all is well.
std::atomic<bool> loses{false};

ssize_t write_some(int file, const void* memory, std::size_t bytes, off_t offset) {
  const bool loses_one = bytes > 1 && loses.exchange(false);
  const ssize_t moved = ::syscall(SYS_pwrite64, file, memory, bytes - (loses_one ? 1 : 0), offset);
  return loses_one && moved > 0 ? moved + 1 : moved;
}

}  // namespace

extern "C" ssize_t pwrite(int file, const void* memory, std::size_t bytes, off_t offset) {
  return write_some(file, memory, bytes, offset);
}
extern "C" ssize_t pwritev(int file, const iovec* pieces, int /*count*/, off_t offset) {
  return write_some(file, pieces->iov_base, pieces->iov_len, offset);
}

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::succeeds;

constexpr int count = 20000;

class Program {
 public:
  Program(const test::Folder& folder, const char* use) : name_(folder.file("checked")) {
    test::Hints hints;
    hints.set("romio_cb_write", use).set("romio_cb_read", use).set("cb_buffer_size", "65536");
    hints.set("fulmar_mapped", "disable");
    file_ = test::open_file(MPI_COMM_WORLD, name_, test::scratch, hints.info());
    MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{4} * size_, &every_);
    MPI_Type_commit(&every_);
    view(Layout::between);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    MPI_Type_free(&every_);
    succeeds(MPI_File_close(&file_), "close");
  }

  void data_are_compared() {
    const test::PerformanceVariable compared("file_checked_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
    write(1);
    expect_read(1);
    const auto all = static_cast<unsigned long long>(count) * 4 * static_cast<unsigned>(size_);
    expect_equal(compared.sum(), all, "all bytes were compared");
    // Read back in another pattern than they were written in.
    view(Layout::one_behind_the_other);
    std::vector<int> back(count);
    succeeds(MPI_File_read_at_all(file_, MPI_Offset{count} * rank_, back.data(), count, MPI_INT,
                                  MPI_STATUS_IGNORE),
             "read");
    expect(compared.sum() > all + all / 2, "most of them again");
    view(Layout::between);
  }

  void a_lost_byte_is_found() {
    for (int loser = 0; loser < size_; ++loser) {
      write(2);
      loses = rank_ == loser;
      write(3);
      const bool lost = rank_ == loser && !loses.exchange(false);
      if (any(lost)) expect_fault("bytes ", "wrote in collective write number");
    }
    write(4);
    expect_read(4);
  }

  void another_writer_is_found() {
    write(5);
    if (rank_ == 0) {
      const int other = ::open(name_.c_str(), O_WRONLY);
      const char byte = 0x55;
      expect(::syscall(SYS_pwrite64, other, &byte, 1, 40000) == 1, "another writer");
      ::close(other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect_fault("bytes ", "a writer outside of this file handle");
    write(6);
    expect_read(6);
  }

  void own_writers_are_no_fault() {
    write(7);
    const int value = 77;
    succeeds(MPI_File_write_at(file_, 17, &value, 1, MPI_INT, MPI_STATUS_IGNORE), "write_at");
    MPI_Request request = MPI_REQUEST_NULL;
    succeeds(MPI_File_iwrite_at(file_, 5000, &value, 1, MPI_INT, &request), "iwrite_at");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<int> back(count);
    succeeds(read(back), "read");
    expect(back[17] == value && back[5000] == value, "what was written by itself");
    succeeds(MPI_File_set_size(file_, MPI_Offset{2} * count * size_), "set_size");
    succeeds(MPI_File_set_size(file_, MPI_Offset{4} * count * size_), "set_size");
    succeeds(read(back), "read");
    expect_equal(back[count - 1], 0, "what was cut off");
  }

  void ranks_in_conflict_are_named() {
    if (size_ == 1) return;
    view(Layout::one_behind_the_other);
    const std::vector<int> values(3000, rank_);
    const int code = MPI_File_write_at_all(file_, rank_ < 2 ? 100 : 10000 * rank_, values.data(),
                                           3000, MPI_INT, MPI_STATUS_IGNORE);
    expect_text(code, "ranks 0 and 1 write bytes 400 to ");
    succeeds(MPI_File_set_atomicity(file_, 1), "set_atomicity");
    succeeds(MPI_File_write_at_all(file_, 100, values.data(), 3000, MPI_INT, MPI_STATUS_IGNORE),
             "atomic mode allows it");
    succeeds(MPI_File_set_atomicity(file_, 0), "set_atomicity");
    const std::vector<int> same(3000, 5);
    succeeds(MPI_File_write_at_all(file_, 100, same.data(), 3000, MPI_INT, MPI_STATUS_IGNORE),
             "the same data");
    view(Layout::between);
  }

 private:
  enum class Layout { between, one_behind_the_other };
  void view(Layout layout) {
    const bool between = layout == Layout::between;
    succeeds(MPI_File_set_view(file_, between ? MPI_Offset{4} * rank_ : 0, MPI_INT,
                               between ? every_ : MPI_INT, "native", MPI_INFO_NULL),
             "set_view");
  }
  static bool any(bool here) {
    int flag = here ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return flag != 0;
  }
  [[nodiscard]] int value(int round, int index) const {
    return static_cast<int>(test::mark(round, rank_, index) | 0x01010101U);
  }
  void write(int round) {
    std::vector<int> values(count);
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value(round, i);
    succeeds(MPI_File_write_at_all(file_, 0, values.data(), count, MPI_INT, MPI_STATUS_IGNORE),
             "write");
  }
  int read(std::vector<int>& back) {
    return MPI_File_read_at_all(file_, 0, back.data(), count, MPI_INT, MPI_STATUS_IGNORE);
  }
  void expect_read(int round) {
    std::vector<int> back(count);
    succeeds(read(back), "read");
    for (int i = 0; i < count; ++i) {
      if (back[static_cast<std::size_t>(i)] != value(round, i)) return expect(false, "a value");
    }
  }
  static void expect_text(int code, const char* part) {
    expect_class(code, MPI_ERR_IO, "the class");
    std::string text(MPI_MAX_ERROR_STRING, '\0');
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    expect(text.find(part) != std::string::npos &&
               text.find("FULMAR_CHECK=files") != std::string::npos,
           part);
    if (text.find(part) == std::string::npos) std::fprintf(stderr, "  %s\n", text.c_str());
  }
  void expect_fault(const char* what, const char* why) {
    std::vector<int> back(count);
    const int code = read(back);
    expect_text(code, what);
    expect_text(code, why);
    expect_text(code, name_.c_str());
  }

  std::string name_;
  int rank_ = test::rank_of(MPI_COMM_WORLD);
  int size_ = test::size_of(MPI_COMM_WORLD);
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Datatype every_ = MPI_DATATYPE_NULL;
};

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    for (const char* use : {"enable", "disable"}) {
      Program program(folder, use);
      program.data_are_compared();
      program.a_lost_byte_is_found();
      program.another_writer_is_found();
      program.own_writers_are_no_fault();
      program.ranks_in_conflict_are_named();
    }
  }
  const int result = test::finish();
  MPI_T_finalize();
  return result;
}
