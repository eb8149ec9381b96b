// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A thread that waits for a non-blocking access carries it out itself where no thread of the library has begun it.
// Here those threads are held up in other accesses meanwhile, so that nobody else can have done it.
// ranks: 1

#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <numeric>
#include <thread>
#include <vector>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::succeeds;

const std::thread::id program = std::this_thread::get_id();
std::atomic<bool> held{false};  ///< calls of other threads wait
std::atomic<int> waiting{0};    ///< so many do
std::atomic<int> calls{0};      ///< of the program's thread
std::atomic<int> failing{-1};   ///< which of them fails

/// Whether the call is to fail.
bool begins() {
  if (std::this_thread::get_id() == program) {
    const bool fails = calls++ == failing;
    if (fails) errno = EIO;
    return fails;
  }
  ++waiting;
  held.wait(true);
  --waiting;
  return false;
}

constexpr int helpers = 4;          ///< threads of the library
constexpr int held_bytes = 100000;  ///< too long to be done in the call
constexpr int mib = 1 << 20;

/// Accesses that all threads of the library are busy with while it exists.
class Busy {
 public:
  explicit Busy(MPI_File file) {
    held = true;
    for (int i = 0; i < helpers; ++i) {
      const auto at = static_cast<std::size_t>(i);
      succeeds(MPI_File_iwrite_at(file, i * held_bytes, data_.data(), held_bytes, MPI_BYTE,
                                  &requests_[at]),
               "iwrite_at");
    }
    while (waiting < helpers) std::this_thread::yield();
    calls = 0;
  }
  ~Busy() {
    held = false;
    held.notify_all();
    succeeds(MPI_Waitall(helpers, requests_.data(), MPI_STATUSES_IGNORE), "waitall");
    failing = -1;
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::vector<char> data_ = std::vector<char>(held_bytes, 'h');
  std::array<MPI_Request, helpers> requests_{};
};

std::vector<char> numbered(int bytes) {
  std::vector<char> data(static_cast<std::size_t>(bytes));
  std::iota(data.begin(), data.end(), '\3');
  for (std::size_t at = 0; at < data.size(); at += 1000) data[at] = static_cast<char>(at / 1000);
  return data;
}

/// Writes and reads by calls that are awaited at once.
void moves(MPI_File file, int bytes, MPI_Offset at) {
  const std::vector<char> data = numbered(bytes);
  std::vector<char> back(data.size() + 1, 'x');
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  succeeds(MPI_File_iwrite_at(file, at, data.data(), bytes, MPI_BYTE, &request), "iwrite_at");
  int flag = 0;
  succeeds(MPI_Test(&request, &flag, &status), "test");
  expect_equal(flag, 0, "a test carries nothing out");
  expect_equal(calls.load(), 0, "calls of the system before the wait");
  succeeds(MPI_Wait(&request, &status), "wait");
  expect_equal(test::count_of(status, MPI_BYTE), bytes, "what was written");
  expect(calls > 0, "the program's thread has written");
  // One byte more than there is: the file ends with the data.
  succeeds(MPI_File_iread_at(file, at, back.data(), bytes + 1, MPI_BYTE, &request), "iread_at");
  succeeds(MPI_Waitall(1, &request, &status), "waitall");
  expect_equal(test::count_of(status, MPI_BYTE), bytes, "what was there");
  expect_equal(back.back(), 'x', "a byte behind it");
  back.pop_back();
  expect(back == data, "the data");
}

void ends_in_the_middle(MPI_File file) {
  MPI_Offset size = 0;
  succeeds(MPI_File_get_size(file, &size), "get_size");
  std::vector<char> back(4 * mib);
  for (const int there : {0, 1, mib - 1, mib, mib + 1, 2 * mib}) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    succeeds(MPI_File_iread_at(file, size - there, back.data(), 4 * mib, MPI_BYTE, &request),
             "iread");
    succeeds(MPI_Wait(&request, &status), "wait");
    expect_equal(test::count_of(status, MPI_BYTE), there, "what was there");
  }
}

/// The call of the system with this number fails.
void fails(MPI_File file, int number) {
  std::vector<char> data = numbered(3 * mib);
  MPI_Request request = MPI_REQUEST_NULL;
  for (const bool writes : {true, false}) {
    succeeds(writes ? MPI_File_iwrite_at(file, 0, data.data(), 3 * mib, MPI_BYTE, &request)
                    : MPI_File_iread_at(file, 0, data.data(), 3 * mib, MPI_BYTE, &request),
             "a non-blocking access");
    calls = 0;
    failing = number;
    expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_IO, "an access that fails");
    expect_equal(calls.load(), number + 1, "nothing is moved after it");
    failing = -1;
  }
}

/// Short runs, through a view with gaps.
void views(MPI_File file) {
  constexpr int runs = 100;
  constexpr int run_bytes = 1000;
  MPI_Datatype run = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(run_bytes, MPI_BYTE, &run);
  MPI_Type_create_resized(run, 0, MPI_Aint{10} * run_bytes, &type);
  MPI_Type_commit(&type);
  succeeds(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), "set_view");
  const std::vector<char> data = numbered(runs * run_bytes);
  std::vector<char> back(data.size());
  std::array<MPI_Request, 2> requests{};
  succeeds(MPI_File_iwrite_at(file, 0, data.data(), runs * run_bytes, MPI_BYTE, &requests[0]),
           "iwrite_at");
  requests[1] = MPI_REQUEST_NULL;
  succeeds(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), "waitall");
  succeeds(MPI_File_iread_at(file, 0, back.data(), runs * run_bytes, MPI_BYTE, requests.data()),
           "iread_at");
  succeeds(MPI_Wait(requests.data(), MPI_STATUS_IGNORE), "wait");
  expect(back == data, "the data of a view");
  succeeds(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
  MPI_Type_free(&run);
  MPI_Type_free(&type);
}

}  // namespace

extern "C" ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t offset) {
  return begins() ? -1 : ::syscall(SYS_pwrite64, file, from, bytes, offset);
}
extern "C" ssize_t pread(int file, void* to, std::size_t bytes, off_t offset) {
  return begins() ? -1 : ::syscall(SYS_pread64, file, to, bytes, offset);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    MPI_File file = test::open_file(MPI_COMM_WORLD, folder.file("helping"), test::scratch);
    for (const int bytes : {held_bytes, mib, mib + 1, 5 * mib - 7}) {
      succeeds(MPI_File_set_size(file, 0), "set_size");
      const Busy busy(file);
      moves(file, bytes, helpers * held_bytes);
      if (bytes > 2 * mib) ends_in_the_middle(file);
    }
    {
      const Busy busy(file);
      for (const int number : {0, 1, 2}) fails(file, number);
      views(file);
    }
    succeeds(MPI_File_close(&file), "close");
  }
  return test::finish();
}
