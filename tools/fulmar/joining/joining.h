// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fulmar::joining {

/// What `fulmar bench joining` was asked for.
struct Options {
  enum class Call : std::uint8_t {
    between,  ///< the ranks call MPI_Comm_spawn and MPI_Comm_disconnect between two steps
    beside,   ///< a thread of each calls them while the exchange goes on
  };
  Call call = Call::beside;
  int times = 5;             ///< that a rank joins and leaves; figures are medians
  double milliseconds = 10;  ///< of exchange before, together and afterwards
  std::string json;          ///< file to write, or empty
};

/// Two ranks exchange messages; a third one is spawned, takes part and leaves again. Measures what the two see of it: the
/// longest step of the exchange while it joins and leaves, beside what joining and leaving took.
///
/// A rank of a job, or a process that one has spawned, does its part; else starts itself as two ranks, with `arguments`.
/// Returns the exit code.
int run(const Options& options, const std::vector<std::string>& arguments);

}  // namespace fulmar::joining
