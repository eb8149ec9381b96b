// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi-ext.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <string>

#include "../support/sanitized.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

// How a generated program says that something is wrong: once, with the command that repeats it,
// also when it crashes or is stopped because it hangs.
namespace generated {

/// What the process runs.
struct Report {
  /// The command that repeats a program, before and behind its seed.
  std::string before_seed;
  std::string after_seed;
  int rank = 0;  ///< in the world; where one process runs several ranks, of the one that goes on
  /// Set where processes die. The calls of the others may fail then: this leaves nothing under way
  /// that uses the memory of the program, which ends with `Interrupted`.
  void (*interrupted)() = nullptr;
};
/// Thrown by the first call that a failed process ends; see Report::interrupted.
struct Interrupted {};
inline Report& report() {
  static Report only;
  return only;
}
/// The program that this thread runs.
inline std::uint64_t& current_seed() {
  static thread_local std::uint64_t seed = 0;
  return seed;
}
/// The same, for a signal that another thread gets.
inline std::atomic<std::uint64_t>& latest_seed() {
  static std::atomic<std::uint64_t> seed = 0;
  return seed;
}

/// Only calls that a signal handler may make, apart from snprintf, which allocates nothing here.
inline void print_command(std::uint64_t seed) {
  std::array<char, 600> text;
  const int length = std::snprintf(
      text.data(), text.size(), "  repeat: %s%llu%s     (rank %d)\n", report().before_seed.c_str(),
      static_cast<unsigned long long>(seed), report().after_seed.c_str(), report().rank);
  if (length <= 0) return;
  const auto bytes = std::min(static_cast<std::size_t>(length), text.size() - 1);
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), bytes);
}

[[noreturn]] inline void fail(const std::string& what,
                              std::source_location where = std::source_location::current()) {
  std::fprintf(stderr, "%s:%u: rank %d, seed %llu: %s\n", where.file_name(),
               static_cast<unsigned>(where.line()), report().rank,
               static_cast<unsigned long long>(current_seed()), what.c_str());
  print_command(current_seed());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

inline void expect(bool holds, const char* what,
                   std::source_location where = std::source_location::current()) {
  if (!holds) fail(what, where);
}
inline void expect_equal(long long actual, long long expected, const char* what,
                         std::source_location where = std::source_location::current()) {
  if (actual == expected) return;
  fail(std::string(what) + ": got " + std::to_string(actual) + ", expected " +
           std::to_string(expected),
       where);
}
/// Whether a call has ended because a process has failed.
inline bool is_of_failure(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_PROC_FAILED_PENDING ||
         error_class == MPIX_ERR_REVOKED;
}
/// A call that must succeed, unless processes die.
inline void good(int code, std::source_location where = std::source_location::current()) {
  if (code == MPI_SUCCESS) return;
  if (report().interrupted != nullptr && is_of_failure(code)) {
    report().interrupted();
    throw Interrupted();
  }
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  fail(text.data(), where);
}

/// Before the first program.
inline void watch_for_the_end() {
  const auto told = [](int signal) {
    print_command(latest_seed());
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  };
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback([] { print_command(current_seed()); });
#else
  for (const int crash : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(crash, told);
#endif
  std::signal(SIGTERM, told);
}

}  // namespace generated
