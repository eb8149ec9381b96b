// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace fulmar::mpi {
namespace {

using Processes = std::vector<ProcessId>;
using Contexts = std::vector<std::uint32_t>;

constexpr int many = 100'000;

void expect_routes(const Routes& routes, const Processes& processes, const Contexts& contexts) {
  ASSERT_EQ(routes.size(), static_cast<int>(processes.size()));
  std::vector<int> sorted;
  int rank = 0;
  for (const Route route : routes) {
    const auto at = static_cast<std::size_t>(rank);
    ASSERT_EQ(route.peer, processes[at]);
    ASSERT_EQ(route.context, contexts[contexts.size() == 1 ? 0 : at]);
    ASSERT_EQ(routes[rank].peer, route.peer);
    ASSERT_EQ(routes.rank_of(route.peer, sorted), rank);
    ++rank;
  }
  const ProcessId largest = *std::max_element(processes.begin(), processes.end());
  for (ProcessId process = 0; process < std::min<ProcessId>(largest + 3, 2000); ++process) {
    const bool member = std::find(processes.begin(), processes.end(), process) != processes.end();
    ASSERT_EQ(routes.rank_of(process, sorted) >= 0, member) << process;
  }
}

Processes evenly(ProcessId first, int step, int size) {
  Processes processes;
  for (int i = 0; i < size; ++i)
    processes.push_back(static_cast<ProcessId>(static_cast<int>(first) + step * i));
  return processes;
}

/// What a communicator of the world's size takes for its routes: pinned, as it is needed once for
/// each communicator and process.
TEST(Routes, The_world_takes_no_memory) {
  static_assert(sizeof(Routes) == 24);
  const Routes routes(0, many, 8);
  EXPECT_EQ(routes.heap_bytes(), 0U);
  expect_routes(routes, evenly(0, 1, many), {8});
}

TEST(Routes, A_run_of_processes_with_one_context_takes_no_memory) {
  for (const auto& [first, size] : {std::pair{0U, many}, {7U, 1000}, {5U, 1}, {3U, 2}}) {
    const Routes routes(ProcessList(evenly(first, 1, size)),
                        Contexts(static_cast<std::size_t>(size), 16));
    EXPECT_EQ(routes.heap_bytes(), 0U) << first;
    expect_routes(routes, evenly(first, 1, size), {16});
  }
}

TEST(Routes, Even_distances_take_no_memory_a_rank) {
  for (const int step : {2, 64, -1, -3}) {
    const Processes processes = evenly(step < 0 ? 9000 : 1, step, 1000);
    const Routes routes{ProcessList(processes), Contexts(1000, 24)};
    EXPECT_LE(routes.heap_bytes(), 128U) << step;
    expect_routes(routes, processes, {24});
  }
}

TEST(Routes, Contexts_that_differ_take_four_bytes_a_rank) {
  Contexts contexts;
  for (std::uint32_t i = 0; i < 1000; ++i) contexts.push_back(8 * (i % 5));
  const Routes routes(ProcessList(evenly(0, 1, 1000)), contexts);
  EXPECT_LE(routes.heap_bytes(), 4000U + 128U);
  expect_routes(routes, evenly(0, 1, 1000), contexts);
}

TEST(Routes, Any_processes_share_the_list_of_the_group) {
  Processes processes;
  for (ProcessId i = 0; i < 1000; ++i) processes.push_back(i * 7 % 1009);
  const ProcessList list(processes);
  ASSERT_FALSE(list.regular());
  const Routes routes(list, {32});
  EXPECT_LE(routes.heap_bytes(), 128U);
  expect_routes(routes, processes, {32});
}

TEST(Routes, No_ranks) {
  EXPECT_TRUE(Routes().empty());
  EXPECT_TRUE(Routes(ProcessList(), {}).empty());
  EXPECT_EQ(Routes().begin(), Routes().end());
}

}  // namespace
}  // namespace fulmar::mpi
