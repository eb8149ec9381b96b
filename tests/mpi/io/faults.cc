// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A file system that interrupts calls, does half of what it is asked for, and fails. The program has
// the functions of the system that the library calls.
// ranks: 1 2 4
// networks: tcp

#include <mpi.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "support/files.h"

namespace {

enum class Fault { none, interrupted, halved, no_space, damaged };
std::atomic<Fault> fault{Fault::none};
std::atomic<int> calls{0};
std::atomic<int> calls_before_failure{0};

/// What the next call does: bytes to move, or -1 with errno.
ssize_t allowed(std::size_t bytes) {
  const int call = calls++;
  switch (fault.load()) {
    case Fault::interrupted:
      errno = EINTR;
      return call % 2 == 0 ? -1 : static_cast<ssize_t>(bytes);
    case Fault::halved:
      return static_cast<ssize_t>(bytes > 1 && call % 3 != 0 ? bytes / 2 : bytes);
    case Fault::no_space:
    case Fault::damaged:
      if (call < calls_before_failure) return static_cast<ssize_t>(bytes);
      errno = fault == Fault::no_space ? ENOSPC : EIO;
      return -1;
    default:
      return static_cast<ssize_t>(bytes);
  }
}

ssize_t moved(long call, int file, std::uintptr_t memory, std::size_t bytes, off_t offset) {
  const ssize_t some = allowed(bytes);
  if (some < 0) return -1;
  return ::syscall(call, file, memory, static_cast<std::size_t>(some), offset);
}

/// Of a list of pieces the first one, or half of it.
ssize_t moved(long call, int file, const iovec* pieces, off_t offset) {
  return moved(call, file, reinterpret_cast<std::uintptr_t>(pieces->iov_base), pieces->iov_len,
               offset);
}

}  // namespace

extern "C" ssize_t pwrite(int file, const void* memory, std::size_t bytes, off_t offset) {
  return moved(SYS_pwrite64, file, reinterpret_cast<std::uintptr_t>(memory), bytes, offset);
}
extern "C" ssize_t pread(int file, void* memory, std::size_t bytes, off_t offset) {
  return moved(SYS_pread64, file, reinterpret_cast<std::uintptr_t>(memory), bytes, offset);
}
extern "C" ssize_t pwritev(int file, const iovec* pieces, int /*count*/, off_t offset) {
  return moved(SYS_pwrite64, file, pieces, offset);
}
extern "C" ssize_t preadv(int file, const iovec* pieces, int /*count*/, off_t offset) {
  return moved(SYS_pread64, file, pieces, offset);
}

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::succeeds;

constexpr int count = 20000;

struct Case {
  MPI_File file;
  std::vector<int> values = std::vector<int>(count);
  std::vector<int> back = std::vector<int>(count);
  int rank = test::rank_of(MPI_COMM_WORLD);

  explicit Case(MPI_File its_file) : file(its_file) {
    std::iota(values.begin(), values.end(), rank * count);
  }
  int write(bool collective, MPI_Datatype type, int elements) {
    const auto call = collective ? MPI_File_write_at_all : MPI_File_write_at;
    return call(file, 0, values.data(), elements, type, MPI_STATUS_IGNORE);
  }
  int read(bool collective, MPI_Datatype type, int elements) {
    const auto call = collective ? MPI_File_read_at_all : MPI_File_read_at;
    return call(file, 0, back.data(), elements, type, MPI_STATUS_IGNORE);
  }
};

void everything_arrives(Case& all, Fault what, MPI_Datatype pieces) {
  for (const bool collective : {false, true}) {
    for (const bool in_pieces : {false, true}) {
      MPI_Datatype type = in_pieces ? pieces : MPI_INT;
      const int elements = in_pieces ? count / 2048 : count;
      fault = what;
      succeeds(all.write(collective, type, elements), "write");
      fault = Fault::none;
      MPI_Barrier(MPI_COMM_WORLD);
      std::ranges::fill(all.back, -1);
      fault = what;
      succeeds(all.read(collective, type, elements), "read");
      fault = Fault::none;
      for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool is_data = !in_pieces || (i < elements * 2048 && i % 2048 < 1024);
        const int expected = is_data ? all.values[at] : -1;
        if (all.back[at] != expected) {
          expect_equal(all.back[at], expected, "a value");
          break;
        }
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

void failures_are_told(Case& all) {
  const int size = test::size_of(MPI_COMM_WORLD);
  for (int failing = 0; failing < size; ++failing) {
    for (int before : {0, 2}) {
      calls = 0;
      calls_before_failure = before;
      if (all.rank == failing) fault = Fault::no_space;
      const int code = all.write(true, MPI_INT, count);
      fault = Fault::none;
      // Which ranks write is the library's choice; if one of them fails, all get the error.
      int failed = code != MPI_SUCCESS ? 1 : 0;
      int sum = 0;
      MPI_Allreduce(&failed, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      expect(sum == 0 || sum == size, "an error at all ranks or at none");
      if (failed != 0) {
        expect_class(code, MPI_ERR_NO_SPACE, "the class");
        char text[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        MPI_Error_string(code, text, &length);
        expect(std::strstr(text, "offset") != nullptr, "the text says where");
      }
      if (failing == 0 && before == 0) expect_equal(sum, size, "rank 0 writes in any case");
    }
  }
  calls = 0;
  calls_before_failure = 0;
  fault = Fault::damaged;
  expect_class(all.read(false, MPI_INT, count), MPI_ERR_IO, "a read that fails");
  MPI_Request request = MPI_REQUEST_NULL;
  succeeds(MPI_File_iread_at(all.file, 0, all.back.data(), count, MPI_INT, &request), "iread_at");
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_IO, "the error comes with the end");
  fault = Fault::none;
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(all.write(true, MPI_INT, count), "the file goes on");
  succeeds(all.read(true, MPI_INT, count), "the file goes on");
  expect(all.back == all.values, "the data");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const char* use : {"enable", "disable"}) {
    const test::Folder folder;
    test::Hints hints;
    hints.set("romio_cb_write", use).set("romio_cb_read", use).set("cb_buffer_size", "65536");
    hints.set("fulmar_mapped", "disable");  // what fails here are calls of the system
    MPI_File file =
        test::open_file(MPI_COMM_WORLD, folder.file("faults"), test::scratch, hints.info());
    const int size = test::size_of(MPI_COMM_WORLD);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{4} * size, &type);
    MPI_Type_commit(&type);
    MPI_Datatype half = MPI_DATATYPE_NULL;
    MPI_Datatype pieces = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(1024, MPI_INT, &half);
    MPI_Type_create_resized(half, 0, 8192, &pieces);
    MPI_Type_commit(&pieces);
    Case all(file);
    for (const Fault what : {Fault::interrupted, Fault::halved}) {
      // Without gaps first, where vectored calls are made.
      succeeds(MPI_File_set_view(file, MPI_Offset{4} * count * all.rank, MPI_INT, MPI_INT, "native",
                                 MPI_INFO_NULL),
               "set_view");
      everything_arrives(all, what, pieces);
      succeeds(MPI_File_set_view(file, 4 * all.rank, MPI_INT, type, "native", MPI_INFO_NULL),
               "set_view");
      everything_arrives(all, what, pieces);
    }
    failures_are_told(all);
    MPI_Type_free(&half);
    MPI_Type_free(&pieces);
    MPI_Type_free(&type);
    succeeds(MPI_File_close(&file), "close");
  }
  return test::finish();
}
