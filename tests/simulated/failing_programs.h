// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulated/job.h"

/// Generated programs of which ranks die. Who is interrupted by a failure revokes all communicators;
/// then all that live agree on whether everybody has come through, and those that are left run
/// another program, until they do.
namespace simulated {

/// One agreement, and the communicator that is made after it.
struct Outcome {
  int flag = 0;
  int error_class = 0;
  std::vector<int> members;  ///< ranks in the world
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Outcomes of all ranks, in their order.
using Outcomes = std::vector<std::vector<Outcome>>;

/// What the ranks run: messages and collective calls, or windows.
enum class Content : bool { messages, windows };

/// One rank of it. Adds its outcomes to `own`; those that it has after its death do not count.
void run_failing_program(Job& job, std::uint64_t seed, Content content, int rank,
                         std::vector<Outcome>& own);
/// What is not the same in all ranks; empty: nothing. A rank that has died may have fewer outcomes.
[[nodiscard]] std::string differences(const Outcomes& all, const Deaths& deaths);

}  // namespace simulated
