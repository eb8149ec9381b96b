// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generated programs (tests/mpi/random) in simulated jobs, on a network that delays, refuses and
// lets packets overtake those of others, with every algorithm and protocol.
//
// FULMAR_TEST_PROGRAMS=n runs n of them, from seed FULMAR_TEST_SEED on.
#include <gtest/gtest.h>

#include <string>

#include "mpi/random/report.h"
#include "simulated/job.h"
#include "simulated/programs.h"

namespace simulated {
namespace {

class Programs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { prepare_programs(); }

  /// Messages of all runs.
  static std::uint64_t& moved_by_adapters() {
    static std::uint64_t count = 0;
    return count;
  }

  enum class Memory { as_drawn, closed };
  /// The digest of the whole run.
  static std::uint64_t run(std::uint64_t seed, Memory memory = Memory::as_drawn) {
    begin_program(seed);
    simulated::Setup setup(seed);
    if (memory == Memory::closed) setup.opens = false;
    Job job(setup, seed);
    const std::string left = job.run([&](int rank) { run_program(seed, rank); });
    if (!left.empty()) generated::fail("after the program:" + left);
    for (int rank = 0; rank < setup.ranks; ++rank) {
      const fulmar::device::Counters& counters = job.rank(rank).device().counters();
      moved_by_adapters() += counters.fetched + counters.put;
    }
    return job.digest();
  }
};

TEST_F(Programs, give_what_the_serial_model_says) {
  const std::uint64_t first = number_from("FULMAR_TEST_SEED", 1);
  const std::uint64_t count = number_from("FULMAR_TEST_PROGRAMS", 70);
  for (std::uint64_t seed = first; seed < first + count; ++seed) run(seed);
  if (count < 50) return;
  EXPECT_GT(moved_by_adapters(), 100U);
}

/// What each found stands in the log. At that time no memory was opened.
TEST_F(Programs, that_failed_once_do_not_any_more) {
  for (const std::uint64_t seed : {76U, 134U}) run(seed, Memory::closed);
}

TEST_F(Programs, are_repeated_by_their_seed) {
  for (const std::uint64_t seed : {3U, 77U, 1234U}) {
    EXPECT_EQ(run(seed), run(seed)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace simulated
