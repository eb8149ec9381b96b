// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace fulmar::files {

/// Where a case runs. `comm` has all ranks of the program.
struct Place {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0;
  int ranks = 1;
  std::string folder;
  /// Independent accesses by pread and pwrite of the operating system, without MPI: the limit.
  bool raw = false;
};

/// One way of using a file, at one size. Made and destroyed by all ranks together.
class Case {
 public:
  Case() = default;
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  virtual ~Case() = default;
  /// Carries out so many operations, one after the other; called by all ranks with the same number.
  virtual void run(int count) = 0;
};

/// A named row of sizes.
struct Kind {
  const char* name;
  std::vector<std::size_t> sizes;  ///< of one access of a rank; what they mean says `what`
  bool has_raw = false;
  bool (*fits)(int ranks) = nullptr;  ///< null: any number of ranks
  std::unique_ptr<Case> (*make)(const Place& place, std::size_t bytes) = nullptr;
};

/// All of them, in the order in which they are measured.
const std::vector<Kind>& kinds();

/// Ends the program with the text of an MPI error.
void check(int code, const char* call);

}  // namespace fulmar::files
