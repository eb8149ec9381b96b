// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/choice.h"

#include <gtest/gtest.h>

namespace fulmar::mpi {
namespace {

Choices choices_of(std::string_view text) {
  std::vector<std::string> complaints;
  Choices choices(text, complaints);
  EXPECT_TRUE(complaints.empty());
  return choices;
}

std::string complaint_of(std::string_view text) {
  std::vector<std::string> complaints;
  const Choices choices(text, complaints);
  EXPECT_EQ(complaints.size(), 1U);
  return complaints.empty() ? std::string() : complaints.front();
}

TEST(Choices, every_family_has_a_last_line_that_always_fits) {
  const std::span<const ChoiceRow> rows = choice_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 < rows.size() && rows[i + 1].family == rows[i].family) continue;
    EXPECT_EQ(rows[i].needs, Needs::nothing) << family_name(rows[i].family);
    EXPECT_EQ(rows[i].from_bytes, 0) << family_name(rows[i].family);
    EXPECT_EQ(rows[i].from_ranks, 1) << family_name(rows[i].family);
    EXPECT_EQ(rows[i].cores, Cores::any) << family_name(rows[i].family);
  }
}

TEST(Choices, length_and_ranks_decide) {
  const Choices choices = choices_of("auto");
  EXPECT_EQ(choices.choose(Family::allreduce, {.ranks = 4, .bytes = 100}), Way::doubling);
  EXPECT_EQ(choices.choose(Family::allreduce, {.ranks = 4, .bytes = 1 << 20}), Way::direct);
  EXPECT_EQ(choices.choose(Family::allreduce, {.ranks = 100, .bytes = 1 << 20}), Way::ring);
}

TEST(Choices, restrictions_hold) {
  const Choices choices = choices_of("allreduce:ring,alltoall:bruck");
  EXPECT_EQ(choices.choose(Family::allreduce, {.ranks = 3, .bytes = 8}), Way::ring);
  EXPECT_EQ(choices.choose(Family::allreduce, {.ranks = 3, .bytes = 8, .commutative = false}),
            Way::doubling);
  EXPECT_EQ(choices.choose(Family::alltoall, {.ranks = 3, .bytes = 8, .equal_blocks = false}),
            Way::pairwise);
}

TEST(Choices, crowded_ranks_do_not_take_a_chain) {
  Choices choices = choices_of("auto");
  EXPECT_EQ(choices.choose(Family::bcast, {.ranks = 4, .bytes = 1 << 20}), Way::chain);
  choices.set_crowded();
  EXPECT_EQ(choices.choose(Family::bcast, {.ranks = 4, .bytes = 1 << 20}), Way::binomial);
}

TEST(Choices, crowded_ranks_read_long_blocks_of_a_scatter) {
  Choices choices = choices_of("auto");
  EXPECT_TRUE(choices.takes_shm(Family::scatter, 4, 1 << 20));
  choices.set_crowded();
  EXPECT_TRUE(choices.takes_reads(Family::scatter, 4, 1 << 20));
  EXPECT_FALSE(choices.takes_reads(Family::scatter, 4, (256 << 10) - 1));
  EXPECT_TRUE(choices.takes_shm(Family::gather, 4, 1 << 20));
  Choices fixed = choices_of("scatter:shm");
  fixed.set_crowded();
  EXPECT_TRUE(fixed.takes_shm(Family::scatter, 4, 1 << 20));
}

TEST(Choices, crowded_ranks_read_long_blocks_from_each_other) {
  Choices choices = choices_of("auto");
  choices.set_crowded();
  EXPECT_TRUE(choices.takes_reads(Family::alltoall, 4, 1 << 20));
  EXPECT_TRUE(choices.takes_shm(Family::alltoall, 4, 1 << 20)) << "what they need for it";
  EXPECT_FALSE(choices.takes_reads(Family::alltoall, 4, 1000));
  EXPECT_FALSE(choices.takes_reads(Family::bcast, 4, 1 << 20));
  const Choices fixed = choices_of("alltoall:read");
  EXPECT_TRUE(fixed.takes_reads(Family::alltoall, 2, 1));
  EXPECT_TRUE(fixed.takes_shm(Family::alltoall, 2, 1));
}

TEST(Choices, many_ranks_with_cores_of_their_own_reach_into_each_others_memory) {
  const Choices choices = choices_of("auto");
  EXPECT_FALSE(choices.takes_reads(Family::scatter, 2, 1 << 20));
  EXPECT_TRUE(choices.takes_reads(Family::scatter, 3, 16 << 10));
  EXPECT_TRUE(choices.takes_reads(Family::alltoall, 64, 16 << 10));
  EXPECT_FALSE(choices.takes_reads(Family::alltoall, 65, 16 << 10));
  EXPECT_FALSE(choices.takes_shm(Family::alltoall, 65, 16 << 10));
  EXPECT_FALSE(choices.takes_reads(Family::gather, 3, 128 << 10));
  EXPECT_TRUE(choices.takes_reads(Family::gather, 9, 128 << 10));
  // The more ranks, the more one of them would have to combine alone.
  EXPECT_TRUE(choices.takes_reads(Family::reduce, 4, 512 << 10));
  EXPECT_FALSE(choices.takes_reads(Family::reduce, 4, (512 << 10) - 1));
  EXPECT_TRUE(choices.takes_reads(Family::reduce, 5, 64 << 10));
}

TEST(Choices, the_option_says_whose_cores_ranks_have) {
  Choices own = choices_of("cores:own");
  own.set_crowded();
  EXPECT_FALSE(own.crowded());
  EXPECT_TRUE(own.takes_reads(Family::scatter, 4, 16 << 10));
  const Choices shared = choices_of("bcast:binomial,cores:shared");
  EXPECT_TRUE(shared.crowded());
  EXPECT_FALSE(shared.takes_reads(Family::scatter, 4, 16 << 10));
  EXPECT_EQ(shared.choose(Family::bcast, {.ranks = 4, .bytes = 1 << 20}), Way::binomial);
}

TEST(Choices, unknown_names_are_told) {
  EXPECT_NE(complaint_of("allreduce:rnig").find("there are shm, levels, direct, segments, ring"),
            std::string::npos);
  EXPECT_NE(complaint_of("alreduce:ring,bcast:chain").find("operations are barrier, bcast"),
            std::string::npos);
  EXPECT_NE(complaint_of("scatter:rnig").find("there are read, shm, binomial, direct"),
            std::string::npos);
  EXPECT_NE(complaint_of("ring").find("operation:algorithm"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::mpi
