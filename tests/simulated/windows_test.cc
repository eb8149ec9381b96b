// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generated one-sided programs (tests/mpi/rma/generated) in simulated jobs, on a network that delays, refuses and lets
// packets overtake those of others. FULMAR_TEST_PROGRAMS=n runs n of them, from seed FULMAR_TEST_SEED on.
#include <gtest/gtest.h>

#include <string>

#include "mpi/random/report.h"
#include "simulated/job.h"
#include "simulated/programs.h"

namespace simulated {
namespace {

class WindowPrograms : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { prepare_programs(); }

  enum class Checks { off, on };
  /// The digest of the whole run.
  static std::uint64_t run(std::uint64_t seed, Checks checks = Checks::off) {
    begin_program(seed);
    ::simulated::Setup setup(seed);
    setup.checks_windows = checks == Checks::on;
    setup.loses_orders = false;  // windows take that for the end of the peer
    Job job(setup, seed);
    const std::string left = job.run([&](int /*rank*/) { run_window_program(seed); });
    if (!left.empty()) generated::fail("after the program:" + left);
    return job.digest();
  }
};

TEST_F(WindowPrograms, give_what_the_serial_model_says) {
  const std::uint64_t first = number_from("FULMAR_TEST_SEED", 1);
  const std::uint64_t count = number_from("FULMAR_TEST_PROGRAMS", 30);
  for (std::uint64_t seed = first; seed < first + count; ++seed) run(seed);
}

/// Nothing in them conflicts.
TEST_F(WindowPrograms, pass_the_checks_of_accesses) {
  const std::uint64_t first = number_from("FULMAR_TEST_SEED", 1);
  const std::uint64_t count = number_from("FULMAR_TEST_PROGRAMS", 15);
  for (std::uint64_t seed = first; seed < first + count; ++seed) run(seed, Checks::on);
}

TEST_F(WindowPrograms, are_repeated_by_their_seed) {
  for (const std::uint64_t seed : {3U, 77U}) EXPECT_EQ(run(seed), run(seed)) << "seed " << seed;
}

}  // namespace
}  // namespace simulated
