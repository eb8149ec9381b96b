// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What operations on a window of MPI_Win_allocate cost their origin on two ranks of a node, from the
// call to its return: instructions, locked instructions, fences, system calls.
//
// usage: mpi_rma put|get|accumulate|fetch_and_op|compare_and_swap|lock FILE
//   all but lock: with MPI_Win_flush; lock: MPI_Win_lock, MPI_Put and MPI_Win_unlock
#include <mpi.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "perf/step_limits.h"

namespace {

constexpr int repeats = 16;

void put(MPI_Win win) {
  const std::int64_t value = 1;
  MPI_Put(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win);
}

void get(MPI_Win win) {
  std::int64_t value = 0;
  MPI_Get(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win);
}

void accumulate(MPI_Win win) {
  const std::int64_t value = 1;
  MPI_Accumulate(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_SUM, win);
}

void fetch_and_op(MPI_Win win) {
  const std::int64_t value = 1;
  std::int64_t old = 0;
  MPI_Fetch_and_op(&value, &old, MPI_INT64_T, 1, 0, MPI_SUM, win);
}

void compare_and_swap(MPI_Win win) {
  const std::int64_t value = 1;
  const std::int64_t compare = 0;
  std::int64_t old = 0;
  MPI_Compare_and_swap(&value, &compare, &old, MPI_INT64_T, 1, 0, win);
}

struct Case {
  const char* name;
  void (*operation)(MPI_Win);
  bool locks;
  double instructions;
  double locked;
};
constexpr std::array cases = {
    Case{"put", put, false, 310, 1},
    Case{"get", get, false, 310, 1},
    Case{"accumulate", accumulate, false, 415, 3},
    Case{"fetch_and_op", fetch_and_op, false, 385, 3},
    Case{"compare_and_swap", compare_and_swap, false, 380, 3},
    Case{"lock", put, true, 660, 4},
};

struct Task {
  const Case* which;
  std::atomic<int>* done;
};

struct Window {
  MPI_Win win = MPI_WIN_NULL;
  Window() {
    void* base = nullptr;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  }
};

void calls(const Task& task, MPI_Win win) {
  const bool locks = task.which->locks;
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
  task.which->operation(win);  // the first one is not counted: it may open things
  MPI_Win_flush(1, win);
  if (locks) MPI_Win_unlock(1, win);
  fulmar::perf::count_steps_marker();
  for (int i = 0; i < repeats; ++i) {
    if (locks) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    task.which->operation(win);
    if (locks) {
      MPI_Win_unlock(1, win);
    } else {
      MPI_Win_flush(1, win);
    }
  }
  fulmar::perf::count_steps_marker();
  if (!locks) MPI_Win_unlock(1, win);
}

void measured(void* argument) {
  const Task& task = *static_cast<Task*>(argument);
  MPI_Init(nullptr, nullptr);
  Window window;
  calls(task, window.win);
  task.done->store(1);
  MPI_Win_free(&window.win);
  MPI_Finalize();
}

/// The target does not call MPI meanwhile.
void other(const Task& task) {
  MPI_Init(nullptr, nullptr);
  Window window;
  while (task.done->load() == 0) ::sched_yield();
  MPI_Win_free(&window.win);
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  Task task{nullptr, fulmar::perf::map_shared<std::atomic<int>>(argv[2])};
  for (const Case& each : cases) {
    if (std::strcmp(each.name, argv[1]) == 0) task.which = &each;
  }
  if (task.which == nullptr || task.done == nullptr) return 2;
  if (std::strcmp(std::getenv("FULMAR_RANK"), "1") == 0) {
    other(task);
    return 0;
  }
  const fulmar::perf::Steps steps = fulmar::perf::count_steps(measured, &task);
  return fulmar::perf::check_steps(task.which->name, repeats, steps,
                                   {task.which->instructions, task.which->locked});
}
