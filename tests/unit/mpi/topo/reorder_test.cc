// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/topo/reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace fulmar::mpi {
namespace {

using Ints = std::vector<int>;

/// Rank r runs on core `cores[r]`; four cores share a cache, two caches a socket.
std::vector<Place> on_cores(const std::vector<std::uint32_t>& cores) {
  std::vector<Place> places;
  for (const std::uint32_t core : cores) {
    places.push_back({{0, core / 8, core / 8, core / 4, core}});
  }
  return places;
}

CartTopology grid(const Ints& dims, int period) { return {dims, Ints(dims.size(), period)}; }

Ints identity(std::size_t count) {
  Ints order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(Reorder, Line_dealt_round_robin_is_brought_together) {
  const auto places = on_cores({0, 8, 1, 9, 2, 10, 3, 11});
  const Links links = links_of(grid({8}, 0));
  const Ints order = best_order(places, links);
  // One edge between the sockets, counted at both ends; the others only leave their core.
  EXPECT_EQ(cost_of(places, links, order), 2 * (15 + 6 * 1));
  EXPECT_LT(cost_of(places, links, order), cost_of(places, links, identity(8)));
}

TEST(Reorder, Grid_is_cut_into_squares) {
  const auto places = on_cores({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  const Links links = links_of(grid({4, 4}, 1));
  const Ints order = best_order(places, links);
  EXPECT_LE(cost_of(places, links, order), cost_of(places, links, identity(16)));
  // Eight edges cross in a torus of four squares in every cut; rows cut more between the caches.
  std::vector<Place> caches = places;
  for (Place& place : caches) place.objects = {0, 0, 0, place.objects[3], 0};
  const Links open = links_of(grid({4, 4}, 0));
  EXPECT_EQ(cost_of(caches, open, best_order(caches, open)), 2 * 8 * 2);
}

TEST(Reorder, Nodes_weigh_more_than_all_below_them) {
  std::vector<Place> places(4);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    places[rank].objects[0] = static_cast<std::uint32_t>(rank % 2);
  }
  const Links links = links_of(grid({4}, 0));
  const Ints order = best_order(places, links);
  EXPECT_LT(cost_of(places, links, order), cost_of(places, links, identity(4)));
  const auto node = [&](std::size_t at) {
    return places[static_cast<std::size_t>(order[at])].objects[0];
  };
  EXPECT_EQ(node(0), node(1));
  EXPECT_EQ(node(2), node(3));
}

TEST(Reorder, Equal_places_change_nothing) {
  const auto places = on_cores({5, 5, 5, 5});
  EXPECT_EQ(best_order(places, links_of(grid({2, 2}, 1))), identity(4));
}

TEST(Reorder, Unknown_places_change_nothing) {
  const std::vector<Place> places(6);
  EXPECT_EQ(best_order(places, links_of(grid({3, 2}, 1))), identity(6));
}

TEST(Reorder, Graph_of_two_cliques_finds_its_sockets) {
  // Even nodes know each other, and odd ones; ranks 0 to 3 share a socket.
  GraphTopology graph;
  for (int node = 0; node < 8; ++node) {
    for (int other = node % 2; other < 8; other += 2) {
      if (other != node) graph.edges.push_back(other);
    }
    graph.index.push_back(static_cast<int>(graph.edges.size()));
  }
  const Ints order = best_order(on_cores({0, 1, 2, 3, 8, 9, 10, 11}), links_of(graph));
  for (int node = 0; node < 8; ++node) {
    EXPECT_EQ(order[static_cast<std::size_t>(node)] / 4,
              order[static_cast<std::size_t>(node % 2)] / 4);
  }
}

TEST(Reorder, Random_orders_are_permutations_and_never_worse) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto below = [&](unsigned limit) { return random() % limit; };
    std::vector<std::uint32_t> cores(1 + below(20));
    for (auto& core : cores) core = below(24);
    auto places = on_cores(cores);
    if (below(2) == 1) places[below(static_cast<unsigned>(places.size()))] = {};
    GraphTopology graph;
    const unsigned nodes = 1 + below(static_cast<unsigned>(places.size()));
    for (unsigned node = 0; node < nodes; ++node) {
      for (unsigned degree = below(5); degree > 0; --degree) {
        graph.edges.push_back(static_cast<int>(below(nodes)));
      }
      graph.index.push_back(static_cast<int>(graph.edges.size()));
    }
    const Links links = links_of(graph);
    const Ints order = best_order(places, links);
    Ints sorted = order;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, identity(nodes));
    EXPECT_LE(cost_of(places, links, order), cost_of(places, links, identity(nodes)));
    EXPECT_EQ(order, best_order(places, links));
  }
}

}  // namespace
}  // namespace fulmar::mpi
