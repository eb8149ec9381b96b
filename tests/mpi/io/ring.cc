// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Non-blocking accesses by io_uring (FULMAR_FILES_ASYNC=io_uring): many at a time, past the end of a file, errors, and requests
// that the program gives up. Where the system refuses io_uring, as it does here at rank 0 of 2 in any case,
// threads do it, and the library says so.
// ranks: 1 2

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::succeeds;

bool has_ring_thread() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    if (name == "fulmar-ring") return true;
  }
  return false;
}

/// False where no filter can be set.
bool forbid_io_uring() {
  std::array<sock_filter, 4> program{
      sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_io_uring_setup},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// What a process writes to its standard error while this exists.
class ErrorText {
 public:
  ErrorText() { ::dup2(text_, 2); }
  ErrorText(const ErrorText&) = delete;
  ErrorText& operator=(const ErrorText&) = delete;
  ~ErrorText() {
    ::close(text_);
    ::close(before_);
  }
  [[nodiscard]] std::string end() const {
    ::dup2(before_, 2);
    std::array<char, 4096> room{};
    const ssize_t bytes = ::pread(text_, room.data(), room.size(), 0);
    return {room.data(), static_cast<std::size_t>(bytes < 0 ? 0 : bytes)};
  }

 private:
  const int before_ = ::dup(2);
  const int text_ = ::memfd_create("error_text", 0);
};

constexpr int blocks = 200;

/// Blocks of many lengths, all under way at the same time, in a part of the file that is this rank's.
void moves_many(MPI_File file, MPI_Offset start) {
  std::array<MPI_Request, blocks> requests{};
  std::array<MPI_Status, blocks> statuses{};
  const auto length = [](int i) { return 1 + i * i * 13 % 150000; };
  int bytes = 0;
  for (int i = 0; i < blocks; ++i) bytes += length(i);
  std::vector<char> data(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31 / 7);
  // The last block reads one byte more than there is.
  std::vector<char> back(data.size() + 1, 'x');
  for (const bool writes : {true, false}) {
    int at = 0;
    for (int i = 0; i < blocks; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const int some = length(i) + (!writes && i == blocks - 1 ? 1 : 0);
      succeeds(
          writes
              ? MPI_File_iwrite_at(file, start + at, data.data() + at, some, MPI_BYTE, &requests[k])
              : MPI_File_iread_at(file, start + at, back.data() + at, some, MPI_BYTE, &requests[k]),
          "a non-blocking access");
      at += length(i);
    }
    succeeds(MPI_Waitall(blocks, requests.data(), statuses.data()), "waitall");
    for (int i = 0; i < blocks; ++i) {
      expect_equal(test::count_of(statuses[static_cast<std::size_t>(i)], MPI_BYTE), length(i),
                   "what was moved");
    }
  }
  expect_equal(back.back(), 'x', "a byte behind the end");
  back.pop_back();
  expect(back == data, "the data");
}

/// A device that has no space, and a request that is given up.
void fails(MPI_File file, MPI_Offset start) {
  const std::vector<char> data(100000, 'f');
  MPI_File full = MPI_FILE_NULL;
  succeeds(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_RDWR, MPI_INFO_NULL, &full), "open");
  MPI_Request request = MPI_REQUEST_NULL;
  succeeds(MPI_File_iwrite_at(full, 0, data.data(), 100000, MPI_BYTE, &request), "iwrite_at");
  const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_class(code, MPI_ERR_NO_SPACE, "a write without space");
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  expect(std::strstr(text, "/dev/full") != nullptr, "the text names the file");
  succeeds(MPI_File_close(&full), "close");
  succeeds(MPI_File_iwrite_at(file, start, data.data(), 100000, MPI_BYTE, &request), "iwrite_at");
  succeeds(MPI_Request_free(&request), "free");
  // MPI_Finalize waits for it; here the data must last until it is done.
  std::vector<char> back(data.size());
  while (back != data) {
    succeeds(MPI_File_read_at(file, start, back.data(), 100000, MPI_BYTE, MPI_STATUS_IGNORE),
             "read_at");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const rank = std::getenv("FULMAR_RANK");
  const char* const size = std::getenv("FULMAR_SIZE");
  const bool may_forbid =
      rank != nullptr && size != nullptr && std::atoi(rank) == 0 && std::atoi(size) == 2;
  setenv("FULMAR_FILES_ASYNC", "io_uring", 1);
  const bool in_sandbox = may_forbid && forbid_io_uring();
  {
    const ErrorText text;
    MPI_Init(&argc, &argv);
    const std::string said = text.end();
    std::fputs(in_sandbox ? "" : said.c_str(), stderr);
    if (in_sandbox)
      expect(said.find("the system refuses it (Operation not permitted)") != said.npos,
             "it says so");
  }
  {
    const test::Folder folder;
    const std::string name = "ring" + std::to_string(test::rank_of(MPI_COMM_WORLD));
    MPI_File file = test::open_file(MPI_COMM_SELF, folder.file(name.c_str()), test::scratch);
    moves_many(file, 0);
    if (in_sandbox) expect(!has_ring_thread(), "no io_uring in a sandbox");
    if (!in_sandbox && !has_ring_thread())
      std::printf("skipped: io_uring, which the system refuses; threads were tested\n");
    fails(file, 0);
    succeeds(MPI_File_close(&file), "close");
  }
  return test::finish();
}
