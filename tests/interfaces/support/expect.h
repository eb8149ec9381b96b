// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <source_location>

// Expectations of programs that use an interface of interfaces/, and perhaps no MPI.
namespace test {

inline int& failures() {
  static int count = 0;
  return count;
}

/// What the failures are printed with.
inline int& own_rank() {
  static int rank = -1;
  return rank;
}

inline bool expect(bool holds, const char* what,
                   std::source_location where = std::source_location::current()) {
  if (!holds && ++failures() <= 20) {
    std::fprintf(stderr, "%s:%u: rank %d: failed: %s\n", where.file_name(),
                 static_cast<unsigned>(where.line()), own_rank(), what);
  }
  return holds;
}

template <class T, class U>
void expect_equal(const T& actual, const U& expected, const char* what,
                  std::source_location where = std::source_location::current()) {
  if (expect(actual == static_cast<T>(expected), what, where)) return;
  std::fprintf(stderr, "  got %lld, expected %lld\n", static_cast<long long>(actual),
               static_cast<long long>(expected));
}

/// Calls `holds` until it is true; ends the program after `patience`, saying what was awaited.
template <class Holds>
void await(Holds&& holds, const char* what,
           std::chrono::seconds patience = std::chrono::seconds(45),
           std::source_location where = std::source_location::current()) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() < end) continue;
    expect(false, what, where);
    std::_Exit(1);
  }
}

inline int result() { return failures() == 0 ? 0 : 1; }

}  // namespace test
