// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/agent.h"

#include <gtest/gtest.h>

#include <vector>

/// Who does the accumulates of a window, from what its ranks say.
namespace fulmar::mpi {
namespace {

constexpr std::uint32_t able = agent_can | agent_alone;

AdapterFacts rank_with(std::int64_t size, std::uint32_t bits) {
  AdapterFacts facts;
  facts.size = size;
  facts.open = size != 0 ? 1 : 0;
  facts.agent = bits;
  return facts;
}

AccumulateAgent agent_of(const std::vector<AdapterFacts>& ranks) {
  const AgentChoice choice = choose_agent(ranks);
  EXPECT_NE(choice.why[0], '\0');
  return choice.agent;
}

TEST(Agent, Short_window_is_left_to_the_adapter) {
  EXPECT_EQ(agent_of({rank_with(4096, able), rank_with(0, able)}), AccumulateAgent::adapter);
  EXPECT_EQ(agent_of({rank_with(4097, able), rank_with(8, able)}), AccumulateAgent::target);
}

TEST(Agent, Granularity_decides_about_long_windows) {
  const std::uint32_t fine = able | agent_fine;
  EXPECT_EQ(agent_of({rank_with(1 << 20, fine), rank_with(1 << 20, fine)}),
            AccumulateAgent::adapter);
  EXPECT_EQ(agent_of({rank_with(1 << 20, fine), rank_with(1 << 20, able)}),
            AccumulateAgent::target);
  EXPECT_EQ(agent_of({rank_with(8, able | agent_coarse), rank_with(8, able)}),
            AccumulateAgent::target);
}

TEST(Agent, One_rank_whose_adapter_cannot_decides_for_all) {
  EXPECT_EQ(agent_of({rank_with(8, able), rank_with(8, agent_alone)}), AccumulateAgent::target);
  const std::uint32_t wanted = able | agent_wanted;
  EXPECT_EQ(agent_of({rank_with(8, wanted), rank_with(8, agent_wanted)}), AccumulateAgent::target);
}

TEST(Agent, Adapter_that_needs_the_processor_has_to_be_asked_for) {
  EXPECT_EQ(agent_of({rank_with(8, agent_can), rank_with(8, able)}), AccumulateAgent::target);
  EXPECT_EQ(agent_of({rank_with(8, agent_can | agent_wanted), rank_with(8, agent_can)}),
            AccumulateAgent::adapter);
}

TEST(Agent, Memory_that_is_not_open_is_the_targets_own) {
  AdapterFacts closed = rank_with(8, able);
  closed.open = 0;
  EXPECT_EQ(agent_of({rank_with(8, able), closed}), AccumulateAgent::target);
}

TEST(Agent, Refusal_of_one_rank_counts) {
  EXPECT_EQ(agent_of({rank_with(8, able | agent_wanted), rank_with(8, able | agent_refused)}),
            AccumulateAgent::target);
}

}  // namespace
}  // namespace fulmar::mpi
