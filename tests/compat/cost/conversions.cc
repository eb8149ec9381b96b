// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: conversions [seconds]
// Calls that do little but take handles, on one rank; cost_test.py compares what they cost in each ABI. Prints a line for each:
// its name, instructions and allocations of a call; or, with `seconds`, the nanoseconds that a call takes.
#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <vector>

#include "perf/count_steps.h"

extern "C" void* __libc_malloc(std::size_t);  // NOLINT: glibc's own name

namespace {

std::atomic<long> allocations{0};

constexpr int elements = 16;

/// What the calls work on.
struct Objects {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Win win = MPI_WIN_NULL;
  std::array<double, elements> memory{};
  std::array<MPI_Request, elements> pending{};
  std::array<MPI_Status, elements> statuses{};
  int number = 0;

  Objects() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_create(memory.data(), sizeof memory, 1, MPI_INFO_NULL, comm, &win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    for (int i = 0; i < elements; ++i)
      MPI_Irecv(&memory[0], 1, MPI_DOUBLE, 0, i, comm, &pending[i]);
  }
  ~Objects() {
    for (MPI_Request& request : pending) MPI_Cancel(&request);
    MPI_Waitall(elements, pending.data(), MPI_STATUSES_IGNORE);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
    MPI_Finalize();
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
};

struct Case {
  const char* name;
  void (*call)(Objects& objects);
};

constexpr Case cases[] = {
    {"one-handle", [](Objects& on) { MPI_Comm_rank(on.comm, &on.number); }},
    {"two-handles-and-a-status",
     [](Objects& on) {
       MPI_Recv(nullptr, 0, MPI_DOUBLE, MPI_PROC_NULL, 0, on.comm, &on.statuses[0]);
     }},
    {"four-handles",
     [](Objects& on) {
       MPI_Accumulate(&on.memory[0], 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, MPI_SUM,
                      on.win);
     }},
    {"one-request",
     [](Objects& on) { MPI_Testall(1, on.pending.data(), &on.number, MPI_STATUSES_IGNORE); }},
    {"16-requests",
     [](Objects& on) {
       MPI_Testall(elements, on.pending.data(), &on.number, MPI_STATUSES_IGNORE);
     }},
};

/// What a child process does that is stepped.
void stepped(void* argument) {
  const Case& one = *static_cast<const Case*>(argument);
  Objects objects;
  for (int i = 0; i < 3; ++i) one.call(objects);
  const long before = allocations.load();
  fulmar::perf::count_steps_marker();
  one.call(objects);
  fulmar::perf::count_steps_marker();
  if (allocations.load() != before) std::printf("%s allocates\n", one.name);
}
void nothing(void*) {
  fulmar::perf::count_steps_marker();
  fulmar::perf::count_steps_marker();
}

int print_instructions() {
  const fulmar::perf::Steps around = fulmar::perf::count_steps(nothing, nullptr);
  for (const Case& one : cases) {
    const fulmar::perf::Steps steps = fulmar::perf::count_steps(stepped, const_cast<Case*>(&one));
    if (!steps.complete) {
      std::printf("skipped: a process cannot be stepped here\n");
      return 77;
    }
    std::printf("%s %ld\n", one.name, static_cast<long>(steps.instructions - around.instructions));
    std::fflush(stdout);
  }
  return 0;
}

/// The fastest of some rounds.
int print_seconds() {
  using Clock = std::chrono::steady_clock;
  Objects objects;
  constexpr int calls = 20000;
  for (const Case& one : cases) {
    double best = 1e9;
    for (int round = 0; round < 50; ++round) {
      const Clock::time_point begin = Clock::now();
      for (int i = 0; i < calls; ++i) one.call(objects);
      const std::chrono::duration<double, std::nano> taken = Clock::now() - begin;
      if (taken.count() / calls < best) best = taken.count() / calls;
    }
    std::printf("%s %.1f\n", one.name, best);
  }
  return 0;
}

}  // namespace

extern "C" void* malloc(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}

int main(int argc, char**) { return argc > 1 ? print_seconds() : print_instructions(); }
