// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/node_plan.h"

#include <array>

#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

constexpr std::array ranks = {0, 2};

std::vector<WinFacts> facts_of(std::uint32_t first_apart, std::uint32_t third_apart) {
  std::vector<WinFacts> facts(3);
  facts[0].size = 101;
  facts[0].apart = first_apart;
  facts[1].size = 7777;  // on another node
  facts[1].apart = 1;
  facts[2].size = 50;
  facts[2].apart = third_apart;
  return facts;
}

TEST(NodePlan, Memory_is_contiguous_unless_all_ranks_allow_gaps) {
  for (const auto& facts : {facts_of(0, 0), facts_of(1, 0), facts_of(0, 1)}) {
    const NodePlan plan = plan_node(ranks, facts);
    ASSERT_EQ(plan.begins.size(), 2U);
    EXPECT_EQ(plan.begins[0] % 4096, 0U);
    EXPECT_EQ(plan.begins[1], plan.begins[0] + 101);
    EXPECT_GE(plan.bytes, plan.begins[1] + 50);
  }
  const NodePlan plan = plan_node(ranks, facts_of(1, 1));
  EXPECT_EQ(plan.begins[0] % 64, 0U);
  EXPECT_EQ(plan.begins[1], plan.begins[0] + 128);
}

TEST(NodePlan, Each_rank_gets_the_alignment_that_it_asks_for) {
  std::vector<WinFacts> facts = facts_of(1, 1);
  facts[2].alignment = 1U << 20;
  const NodePlan plan = plan_node(ranks, facts);
  EXPECT_EQ(plan.alignment, 1U << 20);
  EXPECT_EQ(plan.begins[1], 1U << 20);
  EXPECT_LT(plan.begins[0], 4096U);
  facts[2].apart = 0;
  EXPECT_EQ(plan_node(ranks, facts).begins[0], 1U << 20);
}

TEST(NodePlan, Alignments_of_other_processes_may_be_anything) {
  std::vector<WinFacts> facts = facts_of(1, 1);
  facts[0].alignment = 0;
  facts[2].alignment = UINT32_MAX;
  facts[2].size = INT64_MAX;
  const NodePlan plan = plan_node(ranks, facts);
  EXPECT_EQ(plan.alignment, 1U << 30);
  EXPECT_EQ(plan.begins[1], 1U << 30);
  EXPECT_GE(plan.bytes, plan.begins[1]);
}

TEST(NodePlan, Alignments_are_powers_of_two) {
  Info info;
  EXPECT_EQ(alignment_of(nullptr), 1U);
  EXPECT_EQ(alignment_of(&info), 1U);
  const auto with = [&](const char* text) {
    info.set("mpi_minimum_memory_alignment", text);
    return alignment_of(&info);
  };
  EXPECT_EQ(with("4096"), 4096U);
  EXPECT_EQ(with("100"), 128U);
  EXPECT_EQ(with("0"), 1U);
  EXPECT_EQ(with("-64"), 1U);
  EXPECT_EQ(with("64 bytes"), 1U);
  EXPECT_EQ(with("2000000000"), 1U << 30);
}

TEST(NodePlan, Control_lines_slots_and_tables_take_a_page_and_64_bytes_a_rank) {
  for (const std::size_t count : {1U, 2U, 3U, 8U, 31U, 32U, 33U, 64U, 65U, 1000U}) {
    const NodePlan plan = plan_controls(std::vector<int>(count));
    const std::size_t tables = count * plan.table_lines * 64;
    EXPECT_EQ(plan.slots, count * 64);
    if (plan.table_lines != 0) {
      EXPECT_EQ(plan.tables, count * 128) << count;
      EXPECT_LE(count * 128 + tables, 4096 + count * 64) << count;
    }
    EXPECT_EQ(plan.table_lines != 0, count <= 32) << count;
    if (count <= 64) {
      EXPECT_GE(plan.rooms, count * 128 + tables) << count;
      EXPECT_EQ(plan.rooms % 4096, 0U);
      EXPECT_EQ(plan.bytes, plan.rooms + count * 8192) << count;
    } else {
      EXPECT_EQ(plan.rooms, 0U);
      EXPECT_GE(plan.bytes, count * 128) << count;
    }
  }
}

}  // namespace
}  // namespace fulmar::mpi
