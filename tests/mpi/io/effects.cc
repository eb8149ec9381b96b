// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Hints have their effect: which calls of the system are made for the same accesses. How many ranks
// write, and what MPI_File_get_info returns, is in hints.cc.
// ranks: 2

#include <fcntl.h>
#include <mpi.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "support/files.h"
#include "support/performance_variable.h"

namespace {

using test::expect;
using test::expect_equal;
using test::succeeds;

/// The calls that the library has made since `clear`.
struct Calls {
  std::atomic<int> reads{0};
  std::atomic<int> writes{0};
  std::atomic<std::size_t> longest_read{0};
  std::atomic<std::size_t> longest_write{0};
  std::atomic<off_t> first_write{-1};
  std::atomic<int> advice{-1};
  void clear() {
    reads = writes = 0;
    longest_read = longest_write = 0;
    first_write = advice = -1;
  }
};
Calls calls;

/// A client of Lustre that there is none of here; what a file was made with it says of all files.
struct Lustre {
  std::atomic<bool> is_there{false};
  unsigned char layout[32] = {};
};
Lustre lustre;

}  // namespace

extern "C" ssize_t pwrite(int file, const void* memory, size_t bytes, off_t offset) {
  ++calls.writes;
  calls.longest_write = std::max(calls.longest_write.load(), bytes);
  if (calls.first_write < 0) calls.first_write = offset;
  return ::syscall(SYS_pwrite64, file, memory, bytes, offset);
}
extern "C" ssize_t pread(int file, void* memory, size_t bytes, off_t offset) {
  ++calls.reads;
  calls.longest_read = std::max(calls.longest_read.load(), bytes);
  return ::syscall(SYS_pread64, file, memory, bytes, offset);
}
extern "C" int posix_fadvise(int file, off_t offset, off_t bytes, int advice) noexcept {
  calls.advice = advice;
  return ::syscall(SYS_fadvise64, file, offset, bytes, advice) == 0 ? 0 : errno;
}
extern "C" int statfs(const char* path, struct statfs* facts) noexcept {
  const long result = ::syscall(SYS_statfs, path, facts);
  if (result == 0 && lustre.is_there) facts->f_type = 0x0bd00bd0;
  return static_cast<int>(result);
}
extern "C" int ioctl(int file, unsigned long request, ...) noexcept {
  std::va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  if (request != _IOW('f', 154, long)) {
    return static_cast<int>(::syscall(SYS_ioctl, file, request, argument));
  }
  std::memcpy(lustre.layout, argument, sizeof lustre.layout);
  return 0;
}
extern "C" ssize_t getxattr(const char* path, const char* name, void* value, size_t room) noexcept {
  if (!lustre.is_there || room < sizeof lustre.layout || std::strcmp(name, "lustre.lov") != 0) {
    return ::syscall(SYS_getxattr, path, name, value, room);
  }
  std::memcpy(value, lustre.layout, sizeof lustre.layout);
  return sizeof lustre.layout;
}

namespace {

constexpr int runs = 400;
constexpr int run_ints = 25;
constexpr int count = runs * run_ints;

class Program {
 public:
  explicit Program(const test::Folder& folder) : name_(folder.file("effects")) {
    // Runs of 100 bytes with gaps of 100, where the other rank has its own.
    MPI_Datatype run = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(run_ints, MPI_INT, &run);
    MPI_Type_create_resized(run, 0, MPI_Aint{2} * run_ints * 4, &gaps_);
    MPI_Type_commit(&gaps_);
    MPI_Type_free(&run);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { MPI_Type_free(&gaps_); }

  [[nodiscard]] MPI_File open(test::Hints& hints) const {
    hints.set("fulmar_mapped", "disable");
    MPI_File file = test::open_file(MPI_COMM_WORLD, name_, test::scratch, hints.info());
    succeeds(
        MPI_File_set_view(file, MPI_Offset{100} * rank_, MPI_INT, gaps_, "native", MPI_INFO_NULL),
        "set_view");
    return file;
  }

  enum class Way { independent, collective };

  /// The data of both ranks are right after a write with these hints; `calls` has what it took.
  void write(MPI_File file, Way way, int round) {
    std::vector<int> values(count);
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = round + i * 2 + rank_;
    MPI_Barrier(MPI_COMM_WORLD);
    calls.clear();
    const auto write_it = way == Way::collective ? MPI_File_write_at_all : MPI_File_write_at;
    succeeds(write_it(file, 0, values.data(), count, MPI_INT, MPI_STATUS_IGNORE), "write");
  }
  void read(MPI_File file, Way way, int round) {
    std::vector<int> back(count, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    calls.clear();
    const auto read_it = way == Way::collective ? MPI_File_read_at_all : MPI_File_read_at;
    succeeds(read_it(file, 0, back.data(), count, MPI_INT, MPI_STATUS_IGNORE), "read");
    for (int i = 0; i < count; ++i) {
      if (back[static_cast<std::size_t>(i)] != round + i * 2 + rank_) {
        return expect_equal(back[static_cast<std::size_t>(i)], round + i * 2 + rank_, "a value");
      }
    }
  }

  void sieving() {
    for (const char* use : {"enable", "disable"}) {
      const bool sieves = std::strcmp(use, "enable") == 0;
      test::Hints hints;
      hints.set("romio_ds_read", use).set("romio_ds_write", use);
      hints.set("ind_rd_buffer_size", "8192").set("ind_wr_buffer_size", "16384");
      MPI_File file = open(hints);
      write(file, Way::independent, 1);
      expect_equal(calls.reads > 0, sieves, "romio_ds_write: gaps are read");
      expect_equal(calls.writes < runs, sieves, "romio_ds_write: few writes");
      expect(calls.longest_write <= 16384, "ind_wr_buffer_size");
      expect_equal(calls.longest_write > 8192, sieves, "ind_wr_buffer_size");
      read(file, Way::independent, 1);
      expect_equal(calls.reads < runs, sieves, "romio_ds_read: few reads");
      expect(calls.longest_read <= 8192, "ind_rd_buffer_size");
      expect_equal(calls.longest_read > 4096, sieves, "ind_rd_buffer_size");
      succeeds(MPI_File_close(&file), "close");
    }
  }

  /// Memory in pieces is gathered in such a buffer.
  void gathering() {
    test::Hints hints;
    hints.set("ind_wr_buffer_size", "4096").set("ind_rd_buffer_size", "12288");
    MPI_File file = open(hints);
    succeeds(MPI_File_set_view(file, MPI_Offset{count} * 4 * rank_, MPI_INT, MPI_INT, "native",
                               MPI_INFO_NULL),
             "set_view");
    std::vector<int> values(2 * count, rank_);
    MPI_Barrier(MPI_COMM_WORLD);
    calls.clear();
    succeeds(MPI_File_write_at(file, 0, values.data(), runs, gaps_, MPI_STATUS_IGNORE), "write");
    expect_equal(calls.longest_write.load(), std::size_t{4096}, "ind_wr_buffer_size");
    succeeds(MPI_File_read_at(file, 0, values.data(), runs, gaps_, MPI_STATUS_IGNORE), "read");
    expect_equal(calls.longest_read.load(), std::size_t{12288}, "ind_rd_buffer_size");
    succeeds(MPI_File_close(&file), "close");
  }

  /// One rank writes for both, in windows of that length.
  void two_phases() {
    const test::PerformanceVariable exchanges("file_exchanges");
    unsigned long long before = exchanges.sum();
    for (const char* bytes : {"8192", "1048576"}) {
      for (const char* use : {"true", "false"}) {
        const bool exchanged = std::strcmp(use, "true") == 0;
        test::Hints hints;
        hints.set("collective_buffering", use).set("cb_buffer_size", bytes);
        MPI_File file = open(hints);
        write(file, Way::collective, 3);
        if (!exchanged) expect_equal(calls.writes.load(), runs, "a call for each run");
        if (exchanged) {
          const std::size_t all = std::size_t{2} * count * 4;
          const std::size_t longest = std::min<std::size_t>(std::stoul(bytes), all);
          expect_equal(calls.longest_write.load(), rank_ == 0 ? longest : 0, "cb_buffer_size");
        }
        read(file, Way::collective, 3);
        const unsigned long long now = exchanges.sum();
        expect_equal(now - before, exchanged ? 4ULL : 0ULL, "collective_buffering");
        before = now;
        succeeds(MPI_File_close(&file), "close");
      }
    }
    for (const char* use : {"enable", "disable"}) {
      const bool writes_alone = std::strcmp(use, "disable") == 0;
      test::Hints hints;
      hints.set("romio_cb_write", use).set("romio_cb_read", writes_alone ? "enable" : "disable");
      MPI_File file = open(hints);
      write(file, Way::collective, 4);
      expect_equal(exchanges.sum() - before, writes_alone ? 0ULL : 2ULL, "romio_cb_write");
      read(file, Way::collective, 4);
      expect_equal(exchanges.sum() - before, 2ULL, "romio_cb_read");
      before = exchanges.sum();
      succeeds(MPI_File_close(&file), "close");
    }
  }

  /// The part of the second aggregator begins at a multiple of it.
  void striping_unit() {
    for (const int unit : {4096, 12288, 32768}) {
      test::Hints hints;
      hints.set("romio_cb_write", "enable").set("cb_nodes", "2").set("cb_config_list", "*:*");
      hints.set("striping_unit", std::to_string(unit).c_str());
      MPI_File file = open(hints);
      write(file, Way::collective, 5);
      if (rank_ == 1) {
        expect(calls.first_write > 0, "the second rank writes");
        expect_equal(calls.first_write % unit, off_t{0}, "striping_unit");
      }
      read(file, Way::collective, 5);
      succeeds(MPI_File_close(&file), "close");
    }
  }

  void style() {
    const std::pair<const char*, int> styles[] = {{"sequential", POSIX_FADV_SEQUENTIAL},
                                                  {"random", POSIX_FADV_RANDOM},
                                                  {"read_once,reverse_sequential", -1}};
    for (const auto& [value, advice] : styles) {
      test::Hints hints;
      hints.set("access_style", value);
      calls.clear();
      MPI_File file = open(hints);
      expect_equal(calls.advice.load(), advice, value);
      succeeds(MPI_File_close(&file), "close");
    }
  }

  /// Of the file that ROMIO_HINTS names, which the program overrules.
  void environment() {
    MPI_File file = test::open_file(MPI_COMM_WORLD, name_, test::scratch);
    expect(test::Hints::value(file, "cb_buffer_size") == "65536", "ROMIO_HINTS");
    expect(test::Hints::value(file, "romio_cb_read") == "enable", "ROMIO_HINTS");
    succeeds(MPI_File_close(&file), "close");
    test::Hints hints;
    hints.set("romio_cb_read", "disable");
    file = open(hints);
    expect(test::Hints::value(file, "cb_buffer_size") == "65536", "ROMIO_HINTS");
    expect(test::Hints::value(file, "romio_cb_read") == "disable", "of the program");
    succeeds(MPI_File_close(&file), "close");
  }

  /// A new file of Lustre lies as it was wished, and says so.
  void striping() {
    lustre.is_there = true;
    test::Hints hints;
    hints.set("striping_factor", "6").set("striping_unit", "2097152");
    MPI_File file = open(hints);
    MPI_Bcast(lustre.layout, sizeof lustre.layout, MPI_BYTE, 0, MPI_COMM_WORLD);
    write(file, Way::collective, 6);
    read(file, Way::collective, 6);
    if (rank_ == 0) {
      expect(test::Hints::value(file, "striping_factor") == "6", "striping_factor");
    }
    expect(test::Hints::value(file, "striping_unit") == "2097152", "striping_unit");
    succeeds(MPI_File_close(&file), "close");
    // What is there already stays so; what is asked for is not what is.
    file = test::open_file(MPI_COMM_WORLD, name_, MPI_MODE_CREATE | MPI_MODE_RDWR);
    succeeds(MPI_File_close(&file), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    test::Hints others;
    others.set("striping_factor", "9");
    file = open(others);
    expect(test::Hints::value(file, "striping_factor") == "6", "of the file that is there");
    succeeds(MPI_File_close(&file), "close");
    lustre.is_there = false;
    file = open(hints);
    expect(test::Hints::value(file, "striping_factor").empty(), "no effect elsewhere");
    succeeds(MPI_File_close(&file), "close");
  }

 private:
  std::string name_;
  int rank_ = test::rank_of(MPI_COMM_WORLD);
  MPI_Datatype gaps_ = MPI_DATATYPE_NULL;
};

/// ROMIO_HINTS names a file as long as this exists; it is read when the first file is opened.
class HintsFile {
 public:
  HintsFile() {
    ::close(::mkstemp(path_.data()));
    std::ofstream(path_.data()) << "# of a test\ncb_buffer_size 65536\nromio_cb_read enable\n";
    ::setenv("ROMIO_HINTS", path_.data(), 1);
  }
  HintsFile(const HintsFile&) = delete;
  HintsFile& operator=(const HintsFile&) = delete;
  ~HintsFile() { ::unlink(path_.data()); }

 private:
  std::array<char, 32> path_{"/tmp/fulmar-hints-XXXXXX"};
};

}  // namespace

int main(int argc, char** argv) {
  const HintsFile hints;
  int level = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    Program program(folder);
    program.environment();
    program.sieving();
    program.gathering();
    program.two_phases();
    program.striping_unit();
    program.style();
    program.striping();
  }
  const int result = test::finish();
  MPI_T_finalize();
  return result;
}
