// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/common_contexts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include "mpi/comm/world.h"

namespace fulmar::mpi {
namespace {

TEST(CommonContexts, ids_are_above_those_of_single_processes_and_differ) {
  std::set<std::uint32_t> ids;
  for (const std::uint32_t index : {0U, 1U, CommonContexts::most_indexes - 1}) {
    for (std::uint32_t slot = 0; slot < CommonContexts::slots; ++slot) {
      const std::uint32_t id = CommonContexts::id_of(slot, index);
      EXPECT_EQ(id % ContextIds::step, 0U);
      EXPECT_GE(id, CommonContexts::first);
      EXPECT_LT(id, CommonContexts::limit);
      EXPECT_TRUE(ids.insert(id).second);
    }
  }
}

TEST(CommonContexts, second_agreement_on_a_slot_says_so_until_the_first_has_ended) {
  CommonContexts contexts;
  EXPECT_FALSE(contexts.offer(3).shared);
  EXPECT_FALSE(contexts.offer(4).shared);
  EXPECT_TRUE(contexts.offer(3).shared);
  contexts.end(3);
  EXPECT_TRUE(contexts.offer(3).shared);
  contexts.end(3);
  contexts.end(3, 7);
  const CommonContexts::Offer next = contexts.offer(3);
  EXPECT_FALSE(next.shared);
  EXPECT_EQ(next.index, 8U);
}

TEST(CommonContexts, are_used_up_in_one_slot_alone) {
  CommonContexts contexts(2);
  for (std::uint32_t index = 0; index < 2; ++index) {
    EXPECT_EQ(contexts.offer(0).index, index);
    EXPECT_TRUE(contexts.has(index));
    contexts.end(0, index);
  }
  EXPECT_FALSE(contexts.has(contexts.offer(0).index));
  EXPECT_TRUE(contexts.has(contexts.offer(1).index));
}

TEST(CommonContexts, only_ids_of_active_agreements_are_ahead) {
  CommonContexts contexts;
  EXPECT_FALSE(contexts.is_ahead(CommonContexts::id_of(5, 0)));
  (void)contexts.offer(5);
  EXPECT_TRUE(contexts.is_ahead(CommonContexts::id_of(5, 0)));
  EXPECT_TRUE(contexts.is_ahead(CommonContexts::id_of(5, 9)));
  EXPECT_FALSE(contexts.is_ahead(CommonContexts::id_of(6, 0)));
  EXPECT_FALSE(contexts.is_ahead(ContextIds::first));
  contexts.end(5, 2);
  (void)contexts.offer(5);
  EXPECT_FALSE(contexts.is_ahead(CommonContexts::id_of(5, 2)));
  EXPECT_TRUE(contexts.is_ahead(CommonContexts::id_of(5, 3)));
}

/// An agreement that is under way among some processes.
struct Agreement {
  std::vector<std::size_t> members;
  std::uint32_t slot = 0;
  std::uint32_t index = 0;
  bool shared = false;
  std::size_t offers = 0;  ///< so many members have offered
};

/// Agreements among random processes begin and end in random order, and overlap: those that do not
/// have to give up never make the same id for two communicators of one process.
TEST(CommonContexts, never_give_a_process_the_same_id_twice) {
  constexpr std::size_t processes = 6;
  std::mt19937 random(7);
  std::array<CommonContexts, processes> contexts;
  std::array<std::set<std::uint32_t>, processes> ids;
  std::vector<Agreement> active;
  std::size_t agreed = 0;
  for (int step = 0; step < 20000; ++step) {
    if (active.size() < 4 && random() % 3 == 0) {
      Agreement& fresh = active.emplace_back();
      for (std::size_t process = 0; process < processes; ++process) {
        if (random() % 2 == 0) fresh.members.push_back(process);
      }
      fresh.slot = random() % 2;
    }
    if (active.empty()) continue;
    const std::size_t chosen = random() % active.size();
    Agreement& one = active[chosen];
    if (one.offers < one.members.size()) {
      const auto offer = contexts[one.members[one.offers++]].offer(one.slot);
      one.index = std::max(one.index, offer.index);
      one.shared |= offer.shared;
      continue;
    }
    for (const std::size_t member : one.members) {
      if (one.shared) {
        contexts[member].end(one.slot);
        continue;
      }
      contexts[member].end(one.slot, one.index);
      ASSERT_TRUE(ids[member].insert(CommonContexts::id_of(one.slot, one.index)).second);
      ++agreed;
    }
    active.erase(active.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  EXPECT_GT(agreed, 1000U);
}

}  // namespace
}  // namespace fulmar::mpi
