// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generated programs (tests/mpi/random) in simulated jobs of which ranks die, at any packet. Every
// other rank ends with what the serial model says, or with an error class of mpi-ext.h; agreements
// give all the same value; a rank that waits for ever is found. Time is that of the simulation, so
// a seed repeats each run.
//
// FULMAR_TEST_PROGRAMS=n runs n of them, from seed FULMAR_TEST_SEED on.
#include <gtest/gtest.h>

#include <string>

#include "mpi/coll/engine/coll_context.h"
#include "mpi/random/report.h"
#include "simulated/failing_programs.h"
#include "simulated/job.h"
#include "simulated/programs.h"

namespace simulated {
namespace {

using fulmar::mpi::CollContext;
using fulmar::mpi::CollTask;

/// Sends to a rank, and does not wait for that.
CollTask send_only(CollContext& exchange, int dest) {
  fulmar::mpi::Transfers transfers(exchange, 1);
  transfers.send({nullptr, 0, &exchange.byte_type()}, dest);
  co_return;
}

CollTask run_part(CollContext& exchange, int dest, bool& went_on) {
  CollContext inside(exchange.comm(), exchange.tag());
  co_await send_only(inside, dest);
  went_on = true;
}

class Failures : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { prepare_programs(); }

  struct Counts {
    std::uint64_t runs = 0;
    std::uint64_t deaths = 0;
    std::uint64_t interrupted = 0;  ///< programs that were
  };
  static Counts& counts() {
    static Counts all;
    return all;
  }

  /// The digest of the whole run.
  static std::uint64_t run(std::uint64_t seed, Content content = Content::messages) {
    begin_program(seed);
    simulated::Setup setup(seed);
    // A rank that cannot register memory for atomic operations of its adapter gets an error from them.
    if (content == Content::windows) setup.refuse_percent = 0;
    if (content == Content::windows)
      setup.loses_orders = false;  // that is the end of the peer to them
    Job job(setup, seed);
    job.let_ranks_die(seed);
    Outcomes outcomes(generated::at(setup.ranks));
    const std::string left = job.run([&](int rank) {
      run_failing_program(job, seed, content, rank, outcomes[generated::at(rank)]);
    });
    if (!left.empty()) generated::fail("after the program:" + left);
    const std::string wrong = differences(outcomes, *job.deaths());
    if (!wrong.empty()) generated::fail(wrong);
    ++counts().runs;
    counts().deaths += static_cast<std::uint64_t>(job.deaths()->count());
    for (const auto& each : outcomes) counts().interrupted += each.size() > 1 ? 1 : 0;
    return job.digest();
  }
};

TEST_F(Failures, leave_survivors_that_go_on) {
  const std::uint64_t first = number_from("FULMAR_TEST_SEED", 1);
  const std::uint64_t count = number_from("FULMAR_TEST_PROGRAMS", 200);
  for (std::uint64_t seed = first; seed < first + count; ++seed) run(seed);
  std::printf("%llu programs, %llu deaths, %llu ranks were interrupted\n",
              static_cast<unsigned long long>(counts().runs),
              static_cast<unsigned long long>(counts().deaths),
              static_cast<unsigned long long>(counts().interrupted));
  if (count < 100) return;
  EXPECT_GT(counts().deaths, counts().runs / 4);
  EXPECT_GT(counts().interrupted, counts().runs / 4);
}

TEST_F(Failures, leave_survivors_that_go_on_with_other_windows) {
  const std::uint64_t first = number_from("FULMAR_TEST_SEED", 1);
  const std::uint64_t count = number_from("FULMAR_TEST_PROGRAMS", 100);
  for (std::uint64_t seed = first; seed < first + count; ++seed) run(seed, Content::windows);
}

/// MPI_ERR_OTHER of a member that could not hand on the window's memory, as the other one had died; datatypes
/// that a window kept whose MPI_Win_free had failed; MPI_ERR_RMA_SYNC and MPI_ERR_TRUNCATE of MPI_Win_free right after
/// MPIX_Comm_agree or a request had told of a failure.
TEST_F(Failures, in_windows_that_gave_wrong_results_once_do_not_any_more) {
  for (const std::uint64_t seed : {549ULL, 757ULL, 818ULL, 20261127001578ULL, 20261127002890ULL,
                                   20261127006805ULL, 20261127008337ULL, 782235200237ULL})
    run(seed, Content::windows);
}

/// MPI_ERR_OTHER of a member whose leader had lost the other one; MPI_ERR_RANK, as members of which nothing
/// had come named rank 0; a sum without the part of a process that had received nothing from the dead one;
/// sends of MPI_Comm_idup that nobody received any more; a table that was taken for its heading; half of a
/// message that was put, as the network delivered the packet behind the lost put; a call that made a communicator
/// of a group, and that waited for ever since a process which was not in the group had died;
/// a failure that was found while another one ended, which made the list of callbacks a circle.
TEST_F(Failures, that_gave_wrong_results_once_do_not_any_more) {
  for (const std::uint64_t seed : {181U, 278U, 1342U, 2287U, 3585U, 700643U, 700777U, 5003664U,
                                   9006472U, 20002965U, 40001954U})
    run(seed);
}

TEST_F(Failures, end_an_algorithm_whose_part_has_lost_a_message) {
  ::simulated::Setup setup(1);
  setup.set_ranks(3);
  fulmar::fabric::FakeNetwork network(3);
  Rank rank(network, setup, 0);
  CollContext exchange(rank.library().world->world);
  bool went_on = false;
  EXPECT_TRUE(exchange.run(run_part(exchange, 1, went_on)).ok());
  EXPECT_TRUE(went_on);
  network.kill(2);
  rank.device().failures().add(2,
                               "it was killed");  // the communicator is not broken before progress
  went_on = false;
  EXPECT_EQ(exchange.run(run_part(exchange, 2, went_on)).error_class(),
            fulmar::base::ErrorClass::proc_failed);
  EXPECT_FALSE(went_on);
}

TEST_F(Failures, are_repeated_by_their_seed) {
  for (const std::uint64_t seed : {3U, 77U, 1234U}) {
    EXPECT_EQ(run(seed), run(seed)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace simulated
