// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <vector>

// What the tests of messages share. Expectations say where they failed and go on; the program's
// exit status is `result()`.

namespace check {

using Where = std::source_location;

inline int& failures() {
  static int count = 0;
  return count;
}
inline int& rank() {
  static int value = 0;
  return value;
}
inline int& size() {
  static int value = 1;
  return value;
}

/// Where the tests' own messages travel, apart from those under test.
inline MPI_Comm& quiet() {
  static MPI_Comm value = MPI_COMM_NULL;
  return value;
}

inline void that(bool good, const char* what, Where where = Where::current()) {
  if (good) return;
  if (++failures() <= 20) {
    std::fprintf(stderr, "rank %d: %s:%u: %s\n", rank(), where.file_name(),
                 static_cast<unsigned>(where.line()), what);
  }
}
inline void is(long long actual, long long expected, const char* what,
               Where where = Where::current()) {
  if (actual == expected) return;
  that(false, what, where);
  if (failures() <= 20) std::fprintf(stderr, "  got %lld, expected %lld\n", actual, expected);
}
inline void ok(int code, Where where = Where::current()) {
  is(code, MPI_SUCCESS, "the call failed", where);
}
/// The call must end with this class of error.
inline void error(int code, int error_class, Where where = Where::current()) {
  int actual = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &actual);
  is(actual, error_class, "error class", where);
}

/// The status of a message.
inline void status(const MPI_Status& status, int source, int tag, long long bytes,
                   Where where = Where::current()) {
  is(status.MPI_SOURCE, source, "source", where);
  is(status.MPI_TAG, tag, "tag", where);
  MPI_Count count = -1;
  ok(MPI_Get_count_c(&status, MPI_BYTE, &count), where);
  is(count, bytes, "count", where);
  int cancelled = -1;
  ok(MPI_Test_cancelled(&status, &cancelled), where);
  is(cancelled, 0, "cancelled", where);
}
inline void empty_status(const MPI_Status& status, Where where = Where::current()) {
  check::status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, where);
  is(status.MPI_ERROR, MPI_SUCCESS, "error of an empty status", where);
}
/// A status with values that no call leaves by accident.
inline MPI_Status marked_status() {
  MPI_Status made;
  std::memset(&made, 0x5a, sizeof made);
  made.MPI_ERROR = 4711;
  return made;
}

inline void start(int* argc, char*** argv, int level = MPI_THREAD_SINGLE) {
  int provided = 0;
  MPI_Init_thread(argc, argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank());
  MPI_Comm_size(MPI_COMM_WORLD, &size());
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &quiet());
  that(provided >= level, "thread level");
}
inline int finish() {
  ok(MPI_Comm_free(&quiet()));
  ok(MPI_Finalize());
  return failures() == 0 ? 0 : 1;
}

/// A barrier of all ranks by messages.
inline void meet() {
  char token = 0;
  for (int step = 1; step < size(); step *= 2) {
    MPI_Sendrecv(&token, 1, MPI_CHAR, (rank() + step) % size(), 0, &token, 1, MPI_CHAR,
                 (rank() - step + size()) % size(), 0, quiet(), MPI_STATUS_IGNORE);
  }
}

/// The byte at `at` of a message that is recognised by `seed`.
inline unsigned char byte_of(std::size_t at, unsigned seed) {
  return static_cast<unsigned char>((at * 131 + at / 251 + seed * 17) & 0xff);
}
inline std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
  std::vector<unsigned char> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = byte_of(i, seed);
  return made;
}
inline void same(const unsigned char* data, std::size_t bytes, unsigned seed,
                 Where where = Where::current()) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (data[i] != byte_of(i, seed)) {
      that(false, "data", where);
      std::fprintf(stderr, "  byte %zu of %zu is %u, not %u\n", i, bytes, data[i],
                   byte_of(i, seed));
      return;
    }
  }
}

}  // namespace check
