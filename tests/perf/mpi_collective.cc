// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What a rank that only sends pays for a collective call of 8 bytes on two ranks, from the call to the end of its wait:
// instructions, locked instructions, fences, system calls, allocations. The other rank stays out of MPI meanwhile, so a
// call that waited for it, or that left a schedule behind, would show.
//
// usage: mpi_collective ibcast|scatterv|gatherv FILE
#include <mpi.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "perf/step_limits.h"

extern "C" void* __libc_malloc(std::size_t);  // NOLINT: glibc's own name

namespace {

/// Two rounds of so many calls are fewer than a rank may be ahead of another.
constexpr int many = 7;
std::atomic<long> allocations{0};

struct Shared {
  std::atomic<int> made;  ///< the measured rank has made all its calls
  std::atomic<long> allocations;
};

struct Task {
  std::string name;
  double most_instructions;  ///< with those of this program, which are some fifty
  Shared* shared;
};

double most_instructions(const std::string& name) {
  if (name == "ibcast") return 750;
  return name == "scatterv" ? 1150 : 700;
}

/// One call; rank 0 only sends.
void call(const std::string& name) {
  double out = 1;
  double in = 0;
  std::array<double, 2> both{};
  const std::array<int, 2> counts = {0, 1};
  const std::array<int, 2> displs = {0, 1};
  if (name == "ibcast") {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(&out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (name == "scatterv") {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Scatterv(both.data(), counts.data(), displs.data(), MPI_DOUBLE, &in, rank, MPI_DOUBLE, 0,
                 MPI_COMM_WORLD);
  } else {
    const std::array<int, 2> ones = {1, 1};
    MPI_Gatherv(&out, 1, MPI_DOUBLE, both.data(), ones.data(), displs.data(), MPI_DOUBLE, 1,
                MPI_COMM_WORLD);
  }
}

void calls(const std::string& name, int number) {
  for (int i = 0; i < number; ++i) call(name);
}

void warm_up(const std::string& name) {
  MPI_Init(nullptr, nullptr);
  for (int i = 0; i < 20; ++i) {
    call(name);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void measured(void* argument) {
  const Task& task = *static_cast<Task*>(argument);
  warm_up(task.name);
  calls(task.name, many);
  const long before = allocations.load();
  fulmar::perf::count_steps_marker();
  calls(task.name, many);
  fulmar::perf::count_steps_marker();
  task.shared->allocations.store(allocations.load() - before);
  task.shared->made.store(1);
  MPI_Finalize();
}

void other(const Task& task) {
  warm_up(task.name);
  while (task.shared->made.load() == 0) ::sched_yield();
  calls(task.name, 2 * many);
  MPI_Finalize();
}

}  // namespace

// Every allocation of the process and of the library comes through here.
extern "C" void* malloc(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  Task task{argv[1], most_instructions(argv[1]), fulmar::perf::map_shared<Shared>(argv[2])};
  if (task.shared == nullptr) return 2;
  if (std::strcmp(std::getenv("FULMAR_RANK"), "1") == 0) {
    other(task);
    return 0;
  }
  const fulmar::perf::Steps steps = fulmar::perf::count_steps(measured, &task);
  return fulmar::perf::check_steps(task.name.c_str(), many, steps, {task.most_instructions},
                                   task.shared->allocations.load());
}
