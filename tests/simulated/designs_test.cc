// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generated programs in simulated jobs whose packets go by the papers' channel designs
// (docs/adr/0009-stacks-and-designs.md), written into memory of a network that brings each write
// late and in halves.
//
// FULMAR_TEST_PROGRAMS=n runs n of them in each lane, from seed FULMAR_TEST_SEED on.
#include <gtest/gtest.h>

#include <string>

#include "mpi/random/report.h"
#include "simulated/job.h"
#include "simulated/programs.h"

namespace simulated {
namespace {

using fulmar::device::RdmaProtocol;
using fulmar::study::Bypass;
using fulmar::study::Design;
using fulmar::study::DesignCounters;
using fulmar::study::Mover;

/// A design and a stack.
struct Lane {
  const char* name;
  Design design;
  Mover mover;
  std::uint32_t chunk_bytes;
  RdmaProtocol around;  ///< off: everything goes through the channel
};

class Designs : public ::testing::TestWithParam<Lane> {
 protected:
  static void SetUpTestSuite() { prepare_programs(); }

  /// All ranks' counters, added up.
  struct Sum {
    DesignCounters design;
    std::uint64_t fetched = 0;  ///< messages around the channel
    std::uint64_t put = 0;
  };
  static Sum run(std::uint64_t seed) {
    const Lane& lane = GetParam();
    begin_program(seed);
    simulated::Setup setup(seed);
    setup.set_design({lane.design, lane.mover, Bypass::no, lane.chunk_bytes}, lane.around);
    Job job(setup, seed);
    const std::string left = job.run([&](int rank) { run_program(seed, rank); });
    if (!left.empty()) generated::fail("after the program:" + left);
    Sum sum;
    for (int rank = 0; rank < setup.ranks; ++rank) {
      fulmar::device::Device& device = job.rank(rank).device();
      sum.design += job.rank(rank).design_counters();
      sum.fetched += device.counters().fetched;
      sum.put += device.counters().put;
    }
    return sum;
  }
};

TEST_P(Designs, carry_generated_programs) {
  const std::uint64_t first = number_from("FULMAR_TEST_SEED", 1);
  const std::uint64_t count = number_from("FULMAR_TEST_PROGRAMS", 40);
  Sum sum;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Sum more = run(seed);
    sum.design += more.design;
    sum.fetched += more.fetched;
    sum.put += more.put;
  }
  if (count < 10) return;
  const DesignCounters& counters = sum.design;
  EXPECT_GT(counters.packets_received, 1000U);
  EXPECT_GE(counters.writes, counters.packets_received);
  // What does not go around the channel, too.
  const bool lends = GetParam().design == Design::zerocopy;
  EXPECT_EQ(counters.moved_bytes > 0, lends) << counters.moved_bytes;
  EXPECT_EQ(counters.handshakes > 0, lends) << counters.handshakes;
  const RdmaProtocol around = GetParam().around;
  EXPECT_EQ(sum.fetched > 0, around == RdmaProtocol::automatic) << sum.fetched;
  if (count < 40 && around != RdmaProtocol::off) return;  // messages from many long runs are rare
  EXPECT_EQ(sum.put > 0, around != RdmaProtocol::off) << sum.put;
}

TEST_P(Designs, are_repeated_by_their_seed) {
  EXPECT_EQ(run(5).design.writes, run(5).design.writes);
}

INSTANTIATE_TEST_SUITE_P(
    Simulated, Designs,
    ::testing::Values(
        Lane{"basic", Design::basic, Mover::receiver_reads, 16384, RdmaProtocol::off},
        Lane{"piggyback", Design::piggyback, Mover::receiver_reads, 16384, RdmaProtocol::off},
        Lane{"pipeline", Design::pipeline, Mover::receiver_reads, 16384, RdmaProtocol::off},
        Lane{"short_chunks", Design::pipeline, Mover::receiver_reads, 1024, RdmaProtocol::off},
        Lane{"zerocopy_read", Design::zerocopy, Mover::receiver_reads, 16384, RdmaProtocol::off},
        Lane{"zerocopy_write", Design::zerocopy, Mover::sender_writes, 16384, RdmaProtocol::off},
        Lane{"ch3", Design::piggyback, Mover::receiver_reads, 16384, RdmaProtocol::put},
        Lane{"adi3", Design::zerocopy, Mover::receiver_reads, 16384, RdmaProtocol::automatic}),
    [](const auto& lane) { return std::string(lane.param.name); });

}  // namespace
}  // namespace simulated
