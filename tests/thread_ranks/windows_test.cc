// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generated one-sided programs (tests/mpi/rma/generated) whose ranks are threads: for the thread sanitizer, which sees
// here what two ranks do with the memory and the control lines of a window.
// FULMAR_TEST_PROGRAMS=n runs n of them, from seed FULMAR_TEST_SEED on.
#include <gtest/gtest.h>

#include <string>

#include "mpi/random/report.h"
#include "simulated/programs.h"
#include "thread_ranks/job.h"

namespace thread_ranks {
namespace {

TEST(WindowPrograms, give_what_the_serial_model_says_in_threads) {
  simulated::prepare_programs();
  generated::report().rank = -1;
  const std::uint64_t first = simulated::number_from("FULMAR_TEST_SEED", 1);
  const std::uint64_t count = simulated::number_from("FULMAR_TEST_PROGRAMS", 24);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    generated::latest_seed() = seed;
    const auto ranks = static_cast<std::uint32_t>(1 + seed % 4);
    const std::string left = run_job(ranks, [&](int /*rank*/) {
      generated::current_seed() = seed;
      simulated::run_window_program(seed);
    });
    EXPECT_EQ(left, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace thread_ranks
