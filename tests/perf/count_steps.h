// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

/// Counts what a piece of a program costs, exactly and without noise: the program runs in a child
/// process that is stepped one instruction at a time between two calls of `count_steps_marker`.
namespace fulmar::perf {

struct Steps {
  std::uint64_t instructions = 0;
  std::uint64_t locked = 0;  ///< lock prefix, or xchg with memory
  std::uint64_t fences = 0;  ///< mfence
  std::uint64_t system_calls = 0;
  bool complete = false;  ///< false: not supported here, or the program died
};

/// Runs `program(argument)` in a child and counts from its first to its second marker. x86-64 only;
/// elsewhere `complete` is false.
Steps count_steps(void (*program)(void*), void* argument);

/// Where counting begins and, called again, ends. Inside the program only.
void count_steps_marker();

}  // namespace fulmar::perf
