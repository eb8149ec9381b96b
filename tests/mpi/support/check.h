// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <source_location>

// What the MPI programs of the tests share: expectations that say where and on which rank they
// failed, and random numbers that are the same on all ranks and can be repeated.
namespace test {

inline int& failures() {
  static int count = 0;
  return count;
}

inline void expect(bool holds, const char* what,
                   std::source_location where = std::source_location::current()) {
  if (holds) return;
  if (++failures() > 20) return;
  int rank = -1;
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized != 0 && finalized == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s:%u: rank %d: failed: %s\n", where.file_name(),
               static_cast<unsigned>(where.line()), rank, what);
}

template <class T, class U>
void expect_equal(const T& actual, const U& expected, const char* what,
                  std::source_location where = std::source_location::current()) {
  if (actual == static_cast<T>(expected)) return;
  expect(false, what, where);
  std::fprintf(stderr, "  got %lld, expected %lld\n", static_cast<long long>(actual),
               static_cast<long long>(expected));
}

/// Whether a call ended with this class of error.
inline void expect_class(int code, int error_class, const char* what,
                         std::source_location where = std::source_location::current()) {
  int actual = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &actual);
  expect_equal(actual, error_class, what, where);
}

inline int rank_of(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Random numbers that every rank draws alike. The seed is printed by rank 0, and taken from the
/// first argument of the program if there is one.
class Shared {
 public:
  Shared(int argc, char** argv)
      : seed_(argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10))
                       : std::random_device()()) {
    MPI_Bcast(&seed_, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0) std::printf("seed %u\n", seed_);
    random_.seed(seed_);
  }
  /// One of 0 to `limit` - 1.
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool coin() { return below(2) == 1; }

 private:
  unsigned seed_;
  std::mt19937 random_;
};

/// A value that only this place has.
inline std::uint32_t mark(int a, int b, int c = 0) {
  std::uint32_t hash = 2166136261U;
  for (const int part : {a, b, c}) hash = (hash ^ static_cast<std::uint32_t>(part)) * 16777619U;
  return hash ^ (hash >> 15);
}

/// Ends MPI; what `main` returns.
inline int finish() {
  MPI_Finalize();
  return failures() == 0 ? 0 : 1;
}

}  // namespace test
