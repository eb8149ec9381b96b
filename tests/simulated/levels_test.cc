// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "simulated/job.h"

namespace simulated {
namespace {

/// How many other ranks each of six has sent something to in a call; 0, 2 and 3 share a node, 1 and
/// 4 another one, 5 is alone.
std::vector<std::size_t> peers_of_ranks(const std::function<void()>& call) {
  Setup setup(1);
  setup.set_ranks(6);
  setup.nodes = {0, 1, 0, 0, 1, 2};
  setup.algorithms.clear();
  setup.compares_calls = false;
  Job job(setup, 1);
  std::vector<std::size_t> peers(6);
  const std::string left = job.run([&](int rank) {
    call();
    peers[generated::at(rank)] = job.rank(rank).device().connected_peers();
  });
  EXPECT_EQ(left, "");
  return peers;
}

void expect_leaders_alone_cross(const std::vector<std::size_t>& peers) {
  for (const std::size_t follower : {2U, 3U}) EXPECT_LE(peers[follower], 2U);
  EXPECT_LE(peers[4], 1U);
  EXPECT_LE(peers[0], 2U + 2U);
  EXPECT_LE(peers[1], 1U + 2U);
  EXPECT_LE(peers[5], 2U);
}

TEST(Levels, are_taken_by_barrier_where_nodes_are_shared) {
  expect_leaders_alone_cross(peers_of_ranks([] { MPI_Barrier(MPI_COMM_WORLD); }));
}

TEST(Levels, are_taken_by_bcast_where_nodes_are_shared) {
  for (const int count : {1, 100000}) {
    expect_leaders_alone_cross(peers_of_ranks([&] {
      std::vector<int> data(generated::at(count));
      MPI_Bcast(data.data(), count, MPI_INT, 0, MPI_COMM_WORLD);
    }));
  }
}

TEST(Levels, are_taken_by_reduce_and_allreduce_where_nodes_are_shared) {
  for (const int count : {1, 100000}) {
    expect_leaders_alone_cross(peers_of_ranks([&] {
      const std::vector<int> from(generated::at(count), 1);
      std::vector<int> to(from.size());
      MPI_Reduce(from.data(), to.data(), count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    }));
    expect_leaders_alone_cross(peers_of_ranks([&] {
      const std::vector<int> from(generated::at(count), 1);
      std::vector<int> to(from.size());
      MPI_Allreduce(from.data(), to.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(to.back(), 6);
    }));
  }
}

}  // namespace
}  // namespace simulated
