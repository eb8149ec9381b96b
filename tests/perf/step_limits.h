// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "perf/count_steps.h"

/// What the programs share that count the instructions of MPI calls on two ranks.
namespace fulmar::perf {

/// A `T` in a file that both ranks map, initially zeros; null if the system refuses. The ranks
/// synchronize by it, because a call of MPI would make progress.
template <class T>
T* map_shared(const char* path) {
  static_assert(sizeof(T) <= 4096);
  const int file = ::open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ::ftruncate(file, 4096) != 0) return nullptr;
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

/// Limits of one call. There are no fences, system calls and allocations at all.
struct StepLimits {
  double instructions;
  double locked = 0;
};

/// Prints the steps of each of `calls` calls beside their limits. Returns the exit status of the
/// program: 0, 1 for a limit that was exceeded, or 77 (skipped) where a process cannot be stepped.
/// `allocations`: of all calls together.
inline int check_steps(const char* name, int calls, const Steps& steps, const StepLimits& limits,
                       long allocations = 0) {
  if (!steps.complete) {
    std::puts("skipped: this machine does not let a process be stepped");
    return 77;
  }
  const auto within = [](const char* what, double value, double limit) {
    std::printf("%-22s %8.1f of at most %g\n", what, value, limit);
    return value <= limit;
  };
  const auto each = [&](std::uint64_t count) { return static_cast<double>(count) / calls; };
  std::printf("%s, 8 bytes, each of %d calls\n", name, calls);
  bool good = within("instructions", each(steps.instructions), limits.instructions);
  good = within("locked instructions", each(steps.locked), limits.locked) && good;
  good = within("fences", each(steps.fences), 0) && good;
  good = within("system calls", each(steps.system_calls), 0) && good;
  good = within("allocations", static_cast<double>(allocations), 0) && good;
  return good ? 0 : 1;
}

}  // namespace fulmar::perf
