// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Many windows: 5,000 at a time in a process that may have 1,024 descriptors, and as many one after the
// other, of which nothing is left.
// ranks: 2
// timeout: 120
// networks: tcp

#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "../support/heap.h"
#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

std::ptrdiff_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n');
}

MPI_Win make_window(int number) {
  constexpr MPI_Aint bytes = 64;
  static char memory[bytes];
  void* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  int made = MPI_SUCCESS;
  switch (number % 4) {
    case 0:
      made = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
      break;
    case 1:
      made = MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
      break;
    case 2:
      made = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
      break;
    default:
      made = MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
      break;
  }
  expect_equal(made, MPI_SUCCESS, "a window is made");
  return win;
}

/// Each rank puts a byte to the next one.
void put_to_neighbour(MPI_Win win) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int next = (rank + 1) % test::size_of(MPI_COMM_WORLD);
  const char value = 'x';
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
  expect_equal(MPI_Put(&value, 1, MPI_CHAR, next, 5, 1, MPI_CHAR, win), MPI_SUCCESS, "put");
  expect_equal(MPI_Win_unlock(next, win), MPI_SUCCESS, "unlock");
}

void many_at_a_time() {
  constexpr int count = 5000;
  MPI_Win first = make_window(0);  // connections are made
  MPI_Win_free(&first);
  const std::ptrdiff_t before = open_descriptors();
  std::vector<MPI_Win> windows;
  for (int i = 0; i < count; ++i) {
    windows.push_back(make_window(i));
    if (windows.back() == MPI_WIN_NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  expect_equal(open_descriptors(), before, "windows keep no descriptors");
  for (const int i : {0, 1, count / 2, count - 4})
    put_to_neighbour(windows[static_cast<std::size_t>(i)]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (MPI_Win& win : windows) expect_equal(MPI_Win_free(&win), MPI_SUCCESS, "free");
}

void many_one_after_the_other() {
  constexpr int warm_up = 400;
  constexpr int count = 5000;
  for (int i = 0; i < warm_up; ++i) {
    MPI_Win win = make_window(i);
    MPI_Win_free(&win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const std::ptrdiff_t descriptors = open_descriptors();
  const std::ptrdiff_t maps = mappings();
  const std::size_t bytes = heap::bytes_in_use();
  for (int i = 0; i < count; ++i) {
    MPI_Win win = make_window(i);
    if (i % 4 < 2 && i % 100 < 4) put_to_neighbour(win);
    MPI_Win_free(&win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expect_equal(open_descriptors(), descriptors, "no descriptor is left");
  if (heap::is_counted()) {
    expect(mappings() <= maps + 4, "no mapping is left");
    constexpr std::size_t slack = 64U << 10;
    expect(heap::bytes_in_use() <= bytes + slack, "no memory is left");
  }
}

}  // namespace

int main(int argc, char** argv) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 1024);
  ::setrlimit(RLIMIT_NOFILE, &files);
  MPI_Init(&argc, &argv);
  many_at_a_time();
  many_one_after_the_other();
  return test::finish();
}
