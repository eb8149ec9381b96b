// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A program that waits for each non-blocking access at once has no thread woken for the next ones (the library
// gives way to a thread that it wakes, by sched_yield, which is counted here). One that goes on without waiting has
// its accesses carried out by threads all the same, from the next MPI call on at the latest, and before it waits.
// ranks: 1

#include <mpi.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_equal;
using test::succeeds;

const std::thread::id program = std::this_thread::get_id();
std::atomic<int> yields{0};        ///< of the program's thread
std::atomic<int> thread_calls{0};  ///< pwrite of others
std::atomic<int> own_calls{0};

}  // namespace

extern "C" int sched_yield() noexcept {
  if (std::this_thread::get_id() == program) ++yields;
  return static_cast<int>(::syscall(SYS_sched_yield));
}
extern "C" ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t offset) {
  ++(std::this_thread::get_id() == program ? own_calls : thread_calls);
  return ::syscall(SYS_pwrite64, file, from, bytes, offset);
}

namespace {

constexpr int bytes = 300'000;  ///< too long to be done in the call

class Program {
 public:
  explicit Program(MPI_File file) : file_(file), data_(bytes) {}

  MPI_Request begin() {
    ++round_;
    for (std::size_t i = 0; i < data_.size(); i += 1000) data_[i] = static_cast<char>(round_);
    yields = thread_calls = own_calls = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    succeeds(MPI_File_iwrite_at(file_, 0, data_.data(), bytes, MPI_BYTE, &request), "iwrite_at");
    begin_yields_ = yields;
    return request;
  }
  /// Whether a thread was woken.
  [[nodiscard]] bool woke() const { return begin_yields_ > 0; }
  void wait(MPI_Request& request) {
    MPI_Status status;
    succeeds(MPI_Wait(&request, &status), "wait");
    expect_equal(test::count_of(status, MPI_BYTE), bytes, "what was written");
    std::vector<char> back(data_.size());
    succeeds(MPI_File_read_at(file_, 0, back.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE), "read");
    expect(back == data_, "the data");
  }
  void write_and_wait() {
    MPI_Request request = begin();
    wait(request);
  }

  /// Until no thread is woken any more; a machine that stands still meanwhile makes a wait late. False if it is never so.
  bool learns() {
    constexpr int most = 20000;
    for (int i = 0; i < most; ++i) {
      write_and_wait();
      if (!woke()) return true;
    }
    return false;
  }

  /// No thread was woken; nobody waits, but other calls of MPI are made.
  void goes_on_with(const char* what, void (*call)(MPI_Request&)) {
    expect(learns(), what);
    MPI_Request request = begin();
    expect(!woke(), what);
    call(request);
    const auto start = std::chrono::steady_clock::now();
    while (thread_calls == 0 &&
           std::chrono::steady_clock::now() - start < std::chrono::seconds(60)) {
      std::this_thread::yield();
    }
    expect_equal(thread_calls.load(), 1, what);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // not at once
    if (request != MPI_REQUEST_NULL) wait(request);
    expect_equal(own_calls.load(), 0, what);
    // It was not awaited at once, so the next ones wake a thread again.
    request = begin();
    expect(woke(), "after that a thread is woken");
    wait(request);
  }

 private:
  MPI_File file_;
  std::vector<char> data_;
  int round_ = 0;
  int begin_yields_ = 0;
};

void tests(MPI_Request& request) {
  int flag = 0;
  while (flag == 0) succeeds(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "test");
}
void tests_once(MPI_Request& request) {
  int flag = 0;
  succeeds(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "test");
}
void waits_for_any(MPI_Request& request) {
  int index = 0;
  succeeds(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE), "waitany");
}
void probes(MPI_Request& /*request*/) {
  int flag = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  // A rank that may use one processor only does all this in the call.
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &all);
  (void)::sched_setaffinity(0, sizeof all, &all);
  (void)::sched_getaffinity(0, sizeof all, &all);
  MPI_Init(&argc, &argv);
  if (CPU_COUNT(&all) < 2) {
    std::puts("not tested: there is one processor only");
  } else {
    const test::Folder folder;
    MPI_File file = test::open_file(MPI_COMM_WORLD, folder.file("awaited"), test::scratch);
    {
      Program own(file);
      own.write_and_wait();
      expect(own.woke(), "at first a thread is woken");
      own.goes_on_with("MPI_Test until it is done", tests);
      own.goes_on_with("one MPI_Test", tests_once);
      own.goes_on_with("MPI_Waitany", waits_for_any);
      own.goes_on_with("a call that has nothing to do with it", probes);
      // The last one is awaited by MPI_File_close only.
      expect(own.learns(), "learns again");
    }
    succeeds(MPI_File_close(&file), "close");
  }
  return test::finish();
}
