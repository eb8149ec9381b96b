// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// access_style=read_once: long reads of what is not in memory come straight from the device (open with O_DIRECT),
// with the right data wherever they begin and end, also where the system refuses that; and nothing of the kind happens
// without the hint, or to what is in memory.
// ranks: 1 2

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_equal;
using test::succeeds;

std::atomic<long> direct_bytes{0};  ///< asked for by direct reads
std::atomic<long> other_bytes{0};
std::atomic<bool> refuses{false};

}  // namespace

extern "C" ssize_t pread(int file, void* to, size_t bytes, off_t offset) {
  other_bytes += static_cast<long>(bytes);
  return ::syscall(SYS_pread64, file, to, bytes, offset);
}
extern "C" ssize_t preadv(int file, const iovec* pieces, int count, off_t offset) {
  const bool is_direct = (::fcntl(file, F_GETFL) & O_DIRECT) != 0;
  for (int i = 0; i < count; ++i) {
    (is_direct ? direct_bytes : other_bytes) += static_cast<long>(pieces[i].iov_len);
  }
  if (is_direct && refuses) {
    errno = EINVAL;
    return -1;
  }
  return ::syscall(SYS_preadv, file, pieces, count, offset, 0);
}

namespace {

constexpr int mib = 1 << 20;
constexpr int part_bytes = 5 * mib + 600;  ///< of a rank

/// A file system with a device, past whose memory files can be read: ext4 or xfs.
bool has_device(const std::string& path) {
  struct statfs facts{};
  return ::statfs(path.c_str(), &facts) == 0 &&
         (facts.f_type == 0xef53 || facts.f_type == 0x58465342);
}

class Program {
 public:
  explicit Program(const test::Folder& folder)
      : name_(folder.file("read_once")), has_device_(has_device(folder.file(""))) {
    for (int i = 0; i < part_bytes; ++i) data_[at(i)] = static_cast<char>(i % 127 + rank_);
  }

  [[nodiscard]] MPI_File open(const char* style) const {
    test::Hints hints;
    hints.set("access_style", style);
    MPI_File file = test::open_file(MPI_COMM_WORLD, name_, test::scratch, hints.info());
    expect(test::Hints::value(file, "access_style") == style, "the hint is in effect");
    succeeds(
        MPI_File_write_at_all(file, first_, data_.data(), part_bytes, MPI_BYTE, MPI_STATUS_IGNORE),
        "write");
    return file;
  }
  static bool any_in_memory(int descriptor) {
    const auto length = static_cast<std::size_t>(::lseek(descriptor, 0, SEEK_END));
    void* const pages = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor, 0);
    std::vector<unsigned char> there(length / 4096 + 1);
    expect(::mincore(pages, length, there.data()) == 0, "mincore");
    ::munmap(pages, length);
    return std::any_of(there.begin(), there.end(), [](unsigned char page) { return page != 0; });
  }
  /// The system drops what it has of the file.
  void forget(MPI_File file) const {
    succeeds(MPI_File_sync(file), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
      const int descriptor = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      // Pages that something in the system still uses stay.
      do {
        expect(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0, "fadvise");
      } while (has_device_ && any_in_memory(descriptor) && std::chrono::steady_clock::now() < end);
      ::close(descriptor);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    direct_bytes = other_bytes = 0;
  }

  enum class Form { blocking, nonblocking, collective };
  /// Reads from byte `from` of this rank's part on.
  void read(MPI_File file, Form form, int from, int bytes) {
    std::vector<char> back(static_cast<std::size_t>(bytes), 'x');
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    const MPI_Offset place = first_ + from;
    switch (form) {
      case Form::blocking:
        succeeds(MPI_File_read_at(file, place, back.data(), bytes, MPI_BYTE, &status), "read_at");
        break;
      case Form::nonblocking:
        succeeds(MPI_File_iread_at(file, place, back.data(), bytes, MPI_BYTE, &request),
                 "iread_at");
        succeeds(MPI_Wait(&request, &status), "wait");
        break;
      case Form::collective:
        succeeds(MPI_File_read_at_all(file, place, back.data(), bytes, MPI_BYTE, &status),
                 "read_at_all");
        break;
    }
    const int there = std::min(bytes, part_bytes - from);
    expect(test::count_of(status, MPI_BYTE) >= there, "what was there");
    expect(std::equal(back.begin(), back.begin() + there, data_.begin() + from), "the data");
  }

  void reads() {
    const bool comes = has_device_;
    MPI_File file = open("read_once");
    for (const Form form : {Form::blocking, Form::nonblocking, Form::collective}) {
      forget(file);
      read(file, form, 0, 4 * mib);
      expect_equal(direct_bytes >= 4 * mib, comes, "bytes that come directly");
      if (comes) expect_equal(other_bytes.load(), 0L, "others");
      for (const int from : {1, 511, 512, 4096, mib + 7}) {
        forget(file);
        read(file, form, from, 2 * mib + 1);
      }
      forget(file);
      read(file, form, mib, part_bytes);  // the last one: beyond the end
    }
    forget(file);
    read(file, Form::blocking, 0, 4096);
    expect_equal(direct_bytes.load(), 0L, "short reads");
    refuses = true;
    forget(file);
    read(file, Form::blocking, 0, 4 * mib);
    read(file, Form::collective, mib, 4 * mib);
    expect_equal(direct_bytes > 0, comes, "tried");
    refuses = false;
    succeeds(MPI_File_close(&file), "close");
  }

  void reads_from_memory() {
    MPI_File file = open("read_once,sequential");
    MPI_Barrier(MPI_COMM_WORLD);
    direct_bytes = 0;
    read(file, Form::blocking, 0, 4 * mib);
    expect_equal(direct_bytes.load(), 0L, "what is in memory");
    succeeds(MPI_File_close(&file), "close");
  }

  void is_not_asked_for() {
    MPI_File file = open("random");
    forget(file);
    read(file, Form::blocking, 0, 4 * mib);
    expect_equal(direct_bytes.load(), 0L, "without the hint");
    test::Hints later;
    later.set("access_style", "read_once");
    succeeds(MPI_File_set_info(file, later.info()), "set_info");
    expect(test::Hints::value(file, "access_style") == "random", "at open only");
    succeeds(MPI_File_close(&file), "close");
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  std::string name_;
  bool has_device_;
  int rank_ = test::rank_of(MPI_COMM_WORLD);
  MPI_Offset first_ = MPI_Offset{part_bytes} * rank_;
  std::vector<char> data_ = std::vector<char>(part_bytes);
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    Program program(folder);
    program.reads();
    program.reads_from_memory();
    program.is_not_asked_for();
  }
  return test::finish();
}
