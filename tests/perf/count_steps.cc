// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "perf/count_steps.h"

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <cerrno>
#include <cstring>

namespace fulmar::perf {

void count_steps_marker() { ::raise(SIGTRAP); }

namespace {

#ifdef __x86_64__

/// Adds one instruction, given its bytes.
void classify(const std::array<unsigned char, 8>& code, Steps& steps) {
  ++steps.instructions;
  std::size_t at = 0;
  bool locked = false;
  const auto is_prefix = [](unsigned char byte) {
    return byte == 0xf0 || byte == 0xf2 || byte == 0xf3 || byte == 0x66 || byte == 0x64 ||
           byte == 0x65 || byte == 0x2e || byte == 0x3e;
  };
  for (; at < 4 && is_prefix(code[at]); ++at) locked = locked || code[at] == 0xf0;
  if ((code[at] & 0xf0) == 0x40) ++at;  // REX
  const bool exchange = (code[at] == 0x86 || code[at] == 0x87) && (code[at + 1] >> 6) != 3;
  if (locked || exchange) ++steps.locked;
  if (code[at] == 0x0f && code[at + 1] == 0x05) ++steps.system_calls;
  if (code[at] == 0x0f && code[at + 1] == 0xae && code[at + 2] >= 0xf0 && code[at + 2] <= 0xf7) {
    ++steps.fences;
  }
}

/// Waits until the child stops by SIGTRAP.
bool stopped(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

/// Steps from the first marker to the second. The way out of one `raise` and into the next is
/// counted too, by a program with nothing between its markers.
Steps step_through(pid_t child) {
  Steps steps;
  std::uint64_t last = 0;
  if (::ptrace(PTRACE_CONT, child, nullptr, nullptr) != 0 || !stopped(child)) return steps;
  for (;;) {
    user_regs_struct registers{};
    if (::ptrace(PTRACE_GETREGS, child, nullptr, &registers) != 0) return steps;
    errno = 0;
    const long word = ::ptrace(PTRACE_PEEKTEXT, child, registers.rip, nullptr);
    if (errno != 0) return steps;
    std::array<unsigned char, 8> code{};
    std::memcpy(code.data(), &word, sizeof word);
    // A repeated string instruction stops once for each element.
    const bool repeated = registers.rip == last && (code[0] == 0xf2 || code[0] == 0xf3);
    if (!repeated) classify(code, steps);
    last = registers.rip;
    if (::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 || !stopped(child)) return steps;
    siginfo_t info{};
    if (::ptrace(PTRACE_GETSIGINFO, child, nullptr, &info) != 0) return steps;
    if (info.si_code == SI_TKILL) {
      steps.complete = true;
      return steps;
    }
  }
}

Steps count_once(void (*program)(void*), void* argument) {
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    ::raise(SIGTRAP);
    program(argument);
    ::_exit(0);
  }
  Steps steps;
  if (stopped(child)) steps = step_through(child);
  // What is left of the program runs to its end unwatched.
  if (!steps.complete || ::ptrace(PTRACE_DETACH, child, nullptr, nullptr) != 0) {
    ::kill(child, SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  return steps;
}

void nothing(void*) {
  count_steps_marker();
  count_steps_marker();
}

#endif

}  // namespace

Steps count_steps(void (*program)(void*), void* argument) {
#ifdef __x86_64__
  const Steps empty = count_once(nothing, nullptr);
  Steps steps = count_once(program, argument);
  if (!empty.complete) return {};
  steps.instructions -= empty.instructions;
  steps.locked -= empty.locked;
  steps.fences -= empty.fences;
  steps.system_calls -= empty.system_calls;
  return steps;
#else
  (void)program;
  (void)argument;
  return {};
#endif
}

}  // namespace fulmar::perf
