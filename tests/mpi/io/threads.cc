// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Which non-blocking accesses threads of the library carry out: long ones where there is a processor for them. Where
// the rank may use one processor only the call does those of some MiB itself.
// ranks: 1

#include <mpi.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_equal;
using test::succeeds;

int file_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    if (name == "fulmar-files") ++count;
  }
  return count;
}

/// Whether there is one. A new thread gives itself its name, perhaps after the access has ended.
bool has_thread() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (file_threads() == 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Writes so many bytes without waiting for the call, and reads them again.
void move(MPI_File file, int bytes) {
  const std::vector<char> data(static_cast<std::size_t>(bytes), 'd');
  std::vector<char> back(data.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  succeeds(MPI_File_iwrite_at(file, 0, data.data(), bytes, MPI_BYTE, &request), "iwrite_at");
  succeeds(MPI_Wait(&request, &status), "wait");
  expect_equal(test::count_of(status, MPI_BYTE), bytes, "what was written");
  succeeds(MPI_File_read_at(file, 0, back.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
  expect(back == data, "the data");
}

void check_threads(MPI_File file) {
  cpu_set_t all;
  cpu_set_t one;
  expect_equal(sched_getaffinity(0, sizeof all, &all), 0, "sched_getaffinity");
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  expect_equal(sched_setaffinity(0, sizeof one, &one), 0, "sched_setaffinity");
  for (const int bytes : {1000, 1 << 20, 4 << 20}) move(file, bytes);
  const bool others = std::getenv("FULMAR_PROGRESS_THREAD") != nullptr;  // they need the lock
  if (!others) expect_equal(file_threads(), 0, "threads where there is one processor");
  sched_setaffinity(0, sizeof all, &all);
  if (CPU_COUNT(&all) > 1) {
    move(file, 1000);
    if (!others) expect_equal(file_threads(), 0, "threads for a short access");
    move(file, 1 << 20);
    expect(has_thread(), "a thread for a long access");
  }
  sched_setaffinity(0, sizeof one, &one);
  move(file, (4 << 20) + 1);
  expect(has_thread(), "a thread for a very long access");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    MPI_File file = test::open_file(MPI_COMM_WORLD, folder.file("threads"), test::scratch);
    check_threads(file);
    succeeds(MPI_File_close(&file), "close");
  }
  return test::finish();
}
