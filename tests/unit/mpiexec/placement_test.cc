// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/placement.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fulmar::mpiexec {
namespace {

using Ids = std::vector<std::uint32_t>;

/// Two sockets of four cores with two hardware threads, numbered as Linux does it: threads of core
/// c are c and c + 8. Sorted as read_topology sorts.
std::vector<Processor> two_sockets() {
  std::vector<Processor> processors;
  for (std::uint32_t core = 0; core < 8; ++core) {
    for (const std::uint32_t id : {core, core + 8}) {
      processors.push_back({id, core, core / 2, core / 4, core / 4});
    }
  }
  return processors;
}

std::vector<Processor> plain(std::uint32_t count) {
  std::vector<Processor> processors;
  for (std::uint32_t id = 0; id < count; ++id) processors.push_back({id, id, 0, 0, 0});
  return processors;
}

TEST(Placement, One_rank_gets_everything) {
  EXPECT_EQ(place_ranks(1, plain(4), Place::automatic, Place::automatic),
            (Placement{{0, 1, 2, 3}}));
}

TEST(Placement, Cores_are_shared_out_evenly_and_completely) {
  for (std::uint32_t cores = 1; cores <= 12; ++cores) {
    for (std::uint32_t ranks = 1; ranks <= cores; ++ranks) {
      const Placement placement =
          place_ranks(ranks, plain(cores), Place::automatic, Place::automatic);
      std::set<std::uint32_t> used;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        EXPECT_GE(placement[rank].size(), cores / ranks);
        EXPECT_LE(placement[rank].size(), (cores + ranks - 1) / ranks);
        EXPECT_EQ(placement[rank].front(), rank * cores / ranks);
        used.insert(placement[rank].begin(), placement[rank].end());
      }
      EXPECT_EQ(used.size(), cores) << ranks << " ranks";
    }
  }
}

TEST(Placement, Threads_of_a_core_stay_together_while_cores_last) {
  const Placement placement = place_ranks(8, two_sockets(), Place::automatic, Place::automatic);
  EXPECT_EQ(placement[0], (Ids{0, 8}));
  EXPECT_EQ(placement[7], (Ids{7, 15}));
}

TEST(Placement, More_ranks_than_cores_get_hardware_threads) {
  const Placement placement = place_ranks(16, two_sockets(), Place::automatic, Place::automatic);
  EXPECT_EQ(placement[0], (Ids{0}));
  EXPECT_EQ(placement[1], (Ids{8}));
}

TEST(Placement, More_ranks_than_processors_are_not_bound) {
  for (const auto& ids : place_ranks(5, plain(4), Place::automatic, Place::automatic)) {
    EXPECT_TRUE(ids.empty());
  }
}

TEST(Placement, Bind_none_binds_nobody) {
  for (const auto& ids : place_ranks(2, plain(4), Place::none, Place::core))
    EXPECT_TRUE(ids.empty());
}

TEST(Placement, Bind_core_narrows_and_wraps_around) {
  const Placement few = place_ranks(2, plain(4), Place::core, Place::automatic);
  EXPECT_EQ(few, (Placement{{0}, {2}}));
  const Placement many = place_ranks(5, plain(2), Place::core, Place::automatic);
  EXPECT_EQ(many, (Placement{{0}, {1}, {0}, {1}, {0}}));
}

TEST(Placement, Bind_socket_widens) {
  const Placement placement = place_ranks(16, two_sockets(), Place::socket, Place::automatic);
  EXPECT_EQ(placement[0], (Ids{0, 8, 1, 9, 2, 10, 3, 11}));
  EXPECT_EQ(placement[15].size(), 8U);
  EXPECT_EQ(placement[15].front(), 4U);
}

TEST(Placement, Map_by_socket_deals_round_robin_and_shares_each_socket) {
  const Placement placement = place_ranks(4, two_sockets(), Place::automatic, Place::socket);
  EXPECT_EQ(placement[0], (Ids{0, 8, 1, 9}));
  EXPECT_EQ(placement[1], (Ids{4, 12, 5, 13}));
  EXPECT_EQ(placement[2], (Ids{2, 10, 3, 11}));
  EXPECT_EQ(placement[3], (Ids{6, 14, 7, 15}));
}

TEST(Placement, Map_by_l3cache_with_bind_core) {
  const Placement placement = place_ranks(5, two_sockets(), Place::core, Place::l3cache);
  EXPECT_EQ(placement[0], (Ids{0, 8}));
  EXPECT_EQ(placement[1], (Ids{2, 10}));
  EXPECT_EQ(placement[4], (Ids{1, 9}));
}

TEST(Placement, So_many_ranks_fill_an_object_before_the_next) {
  const Placement placement =
      place_ranks(6, two_sockets(), Place::core, Place::socket, {.ranks_per_object = 2});
  EXPECT_EQ(placement[0], (Ids{0, 8}));
  EXPECT_EQ(placement[1].front(), 1U) << "rank 1 shares the first socket with 0, 4 and 5";
  EXPECT_EQ(placement[2], (Ids{4, 12}));
  EXPECT_EQ(placement[3], (Ids{6, 14}));
  EXPECT_EQ(placement[4].front(), 2U);
  EXPECT_EQ(placement[5].front(), 3U);
}

TEST(Placement, So_many_cores_for_each_rank) {
  const Amounts two{.units_per_rank = 2};
  const Placement plain_map =
      place_ranks(5, two_sockets(), Place::automatic, Place::automatic, two);
  EXPECT_EQ(plain_map[0], (Ids{0, 8, 1, 9}));
  EXPECT_EQ(plain_map[3], (Ids{6, 14, 7, 15}));
  EXPECT_EQ(plain_map[4], plain_map[0]) << "beginning again";
  const Placement dealt = place_ranks(2, two_sockets(), Place::automatic, Place::socket, two);
  EXPECT_EQ(dealt[1], (Ids{4, 12, 5, 13}));
  const Amounts threads{.units_per_rank = 3, .count_hwthreads = true};
  EXPECT_EQ(place_ranks(2, two_sockets(), Place::core, Place::automatic, threads)[1],
            (Ids{9, 2, 10}));
  const Amounts many{.units_per_rank = 100};
  EXPECT_EQ(place_ranks(1, plain(3), Place::core, Place::automatic, many)[0], (Ids{0, 1, 2}));
  EXPECT_TRUE(place_ranks(1, plain(3), Place::none, Place::automatic, two)[0].empty());
}

TEST(Placement, Objects_are_counted) {
  EXPECT_EQ(count_objects(two_sockets(), Place::core), 8U);
  EXPECT_EQ(count_objects(two_sockets(), Place::socket), 2U);
  EXPECT_EQ(count_objects(two_sockets(), Place::hwthread), 16U);
  EXPECT_EQ(count_objects(two_sockets(), Place::automatic), 1U);
}

}  // namespace
}  // namespace fulmar::mpiexec
