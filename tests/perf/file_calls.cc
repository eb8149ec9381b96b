// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// How many calls of the operating system accesses to a file make, which do not depend on the clock. The
// files lie in memory (tmpfs), where short runs go through mapped memory.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

/// What the library has called since `reset`.
struct Calls {
  long reads = 0;
  long writes = 0;
  long made_usable = 0;  ///< parts of mapped memory
  long memory_files = 0;
};
Calls calls;

}  // namespace

extern "C" ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t offset) {
  ++calls.writes;
  return ::syscall(SYS_pwrite64, file, from, bytes, offset);
}
extern "C" ssize_t pread(int file, void* to, std::size_t bytes, off_t offset) {
  ++calls.reads;
  return ::syscall(SYS_pread64, file, to, bytes, offset);
}
extern "C" ssize_t pwritev(int file, const iovec* pieces, int count, off_t offset) {
  ++calls.writes;
  return ::syscall(SYS_pwritev, file, pieces, count, offset, 0);
}
extern "C" ssize_t preadv(int file, const iovec* pieces, int count, off_t offset) {
  ++calls.reads;
  return ::syscall(SYS_preadv, file, pieces, count, offset, 0);
}
extern "C" int madvise(void* memory, std::size_t bytes, int advice) noexcept {
  ++calls.made_usable;
  return static_cast<int>(::syscall(SYS_madvise, memory, bytes, advice));
}
extern "C" int memfd_create(const char* name, unsigned flags) noexcept {
  ++calls.memory_files;
  return static_cast<int>(::syscall(SYS_memfd_create, name, flags));
}

namespace {

int failures = 0;

void at_most(long found, long most, const char* what) {
  if (found <= most) return;
  std::printf("%s: %ld calls, at most %ld were expected\n", what, found, most);
  ++failures;
}

long threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::distance(begin(all), end(all));
}

/// The file of rank 0 in memory, which all ranks find.
std::string shared_name() {
  std::array<int, 2> place{};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) place = {::getpid(), ::memfd_create("file_calls", 0)};
  MPI_Bcast(place.data(), 2, MPI_INT, 0, MPI_COMM_WORLD);
  return "/proc/" + std::to_string(place[0]) + "/fd/" + std::to_string(place[1]);
}

constexpr int run_bytes = 64;
constexpr int runs = 16384;
constexpr int bytes = run_bytes * runs;
constexpr int block_bytes = 64 << 10;

void contiguous(MPI_File file, std::vector<char>& data) {
  calls = {};
  for (int i = 0; i < 100; ++i) {
    MPI_File_write_at(file, i * 4096, data.data(), 4096, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, i * 4096, data.data(), 4096, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  at_most(calls.writes, 100, "100 contiguous writes, writes");
  at_most(calls.reads, 100, "100 contiguous reads, reads");
  at_most(calls.made_usable, 0, "contiguous accesses, mapped memory");
}

void window(MPI_File file, std::vector<char>& data) {
  const long before = threads();
  calls = {};
  std::array<MPI_Request, 8> requests{};
  for (int i = 0; i < 8; ++i) {
    MPI_File_iwrite_at(file, i * 4096, data.data() + i * 4096, 4096, MPI_BYTE,
                       &requests[static_cast<std::size_t>(i)]);
  }
  MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
  at_most(calls.writes, 8, "8 short non-blocking writes, writes");
  at_most(threads() - before, 0, "8 short non-blocking writes, threads");
}

/// 16384 runs of each rank: by themselves they would take as many calls.
void strided(MPI_File file, std::vector<char>& data, bool collective) {
  const auto write = collective ? MPI_File_write_at_all : MPI_File_write_at;
  const auto read = collective ? MPI_File_read_at_all : MPI_File_read_at;
  calls = {};
  write(file, 0, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  at_most(calls.writes, 1, "strided, first time, writes");
  at_most(calls.made_usable, 16, "strided, first time, parts of mapped memory");
  calls = {};
  write(file, 0, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  read(file, 0, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  at_most(calls.writes, 0, "strided, second time, writes");
  at_most(calls.reads, 0, "strided, second time, reads");
  // The part in which the file ends is made usable each time.
  at_most(calls.made_usable, 2, "strided, second time, parts of mapped memory");
}

/// 16 blocks of 64 KiB, which calls find no slower than memory the first time only.
void blocks_in_turns(MPI_File file, std::vector<char>& data) {
  constexpr long blocks = bytes / block_bytes;
  calls = {};
  MPI_File_write_at(file, 0, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  at_most(calls.writes, blocks, "blocks in turns, first time, writes");
  MPI_File_read_at(file, 0, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  calls = {};
  MPI_File_write_at(file, 0, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_read_at(file, 0, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  at_most(calls.writes, 0, "blocks in turns, third time, writes");
  at_most(calls.reads, 0, "blocks in turns, third time, reads");
  at_most(calls.made_usable, 2, "blocks in turns, third time, parts of mapped memory");
}

/// In a file that this process has not accessed so far: sieved.
void strided_read(MPI_File file, std::vector<char>& data, int ranks) {
  calls = {};
  MPI_File_read_at(file, 0, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  constexpr long piece_bytes = 256L * run_bytes;
  at_most(calls.reads, bytes / piece_bytes + ranks, "strided, a new file, reads");
}

MPI_File open(const std::string& name, int amode) {
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode, MPI_INFO_NULL, &file) == MPI_SUCCESS) {
    return file;
  }
  std::printf("%s cannot be opened\n", name.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  return file;
}

/// Runs of all ranks in turns, and a gap of the same length after each.
void set_view(MPI_File file, int rank, int ranks, int length) {
  MPI_Datatype run = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(length, MPI_BYTE, &run);
  MPI_Type_create_resized(run, 0, MPI_Aint{length} * ranks * 2, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, MPI_Offset{length} * 2 * rank, MPI_BYTE, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&run);
  MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string name = shared_name();
  std::vector<char> data(bytes, 'd');
  MPI_File file = open(name, MPI_MODE_RDWR);
  contiguous(file, data);
  window(file, data);
  set_view(file, rank, ranks, run_bytes);
  strided(file, data, false);
  strided(file, data, true);
  MPI_File_close(&file);
  file = open(name, MPI_MODE_RDWR);
  set_view(file, rank, ranks, block_bytes);
  blocks_in_turns(file, data);
  MPI_File_close(&file);
  calls = {};
  for (int i = 0; i < 10; ++i) {
    file = open(name, MPI_MODE_RDWR);
    MPI_File_close(&file);
  }
  at_most(calls.memory_files, 0, "opening files, memory files");
  file = open(name, MPI_MODE_RDWR);
  set_view(file, rank, ranks, run_bytes);
  strided_read(file, data, ranks);
  MPI_File_close(&file);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
