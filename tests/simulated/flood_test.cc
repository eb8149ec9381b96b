// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "simulated/job.h"

namespace simulated {
namespace {

constexpr int senders = 8;
constexpr int count = 1500;  ///< messages of each
constexpr std::uint64_t budget_bytes = 100'000;
constexpr std::size_t room = 16;  ///< packets between two ranks
/// What a record of a short message takes; here more than it does.
constexpr std::uint64_t most_record_bytes = 256;

Setup flooded() {
  Setup setup(1);
  setup.set_ranks(senders + 1);
  setup.algorithms.clear();
  setup.compares_calls = false;
  setup.reluctance = 0;
  setup.hold_percent = 0;
  setup.stay_percent = 0;
  setup.device.eager_bytes = 64 << 10;
  setup.device.unexpected_budget_bytes = budget_bytes;
  return setup;
}

void send_all(int rank) {
  std::vector<int> values(count);
  std::vector<MPI_Request> requests(count);
  for (int i = 0; i < count; ++i) {
    values[generated::at(i)] = rank * 1'000'000 + i;
    MPI_Isend(&values[generated::at(i)], 1, MPI_INT, 0, i, MPI_COMM_WORLD,
              &requests[generated::at(i)]);
  }
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
}

void receive_last() {
  std::vector<int> values(senders);
  std::vector<MPI_Request> requests(senders);
  for (int i = 0; i < senders; ++i) {
    MPI_Irecv(&values[generated::at(i)], 1, MPI_INT, i + 1, count - 1, MPI_COMM_WORLD,
              &requests[generated::at(i)]);
  }
  MPI_Waitall(senders, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < senders; ++i) {
    EXPECT_EQ(values[generated::at(i)], (i + 1) * 1'000'000 + count - 1);
  }
}

/// Gives the largest number of bytes that were kept in between.
std::uint64_t receive_rest(const fulmar::device::Device& device) {
  std::uint64_t most = 0;
  std::vector<int> next(senders + 1, 0);
  for (int left = senders * (count - 1); left > 0; --left) {
    most = std::max(most, device.unexpected_bytes());
    int value = -1;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    int& expected = next[generated::at(status.MPI_SOURCE)];
    EXPECT_EQ(status.MPI_TAG, expected);
    EXPECT_EQ(value, status.MPI_SOURCE * 1'000'000 + status.MPI_TAG);
    expected = status.MPI_TAG + 1;
  }
  return most;
}

/// Every rank sends to a rank that has posted nothing: beyond the budget it takes what is in the
/// rings, and no more; the last message can be received first, and none is lost.
TEST(Flood, stays_within_the_budget_and_the_last_message_can_be_first) {
  const auto setup = flooded();
  for (const std::uint64_t seed : {1, 2, 3}) {
    Job job(setup, seed);
    job.network().set_room(room);
    std::uint64_t most = 0;
    const std::string left = job.run([&](int rank) {
      if (rank != 0) return send_all(rank);
      receive_last();
      // So much is there although only what came last was wanted: the flood did come.
      const fulmar::device::Device& device = job.rank(0).device();
      most = device.unexpected_bytes();
      EXPECT_GT(most, budget_bytes / 2);
      EXPECT_EQ(device.held_senders(), std::size_t{senders});
      most = std::max(most, receive_rest(device));
    });
    EXPECT_EQ(left, "");
    EXPECT_LE(most, budget_bytes + senders * 2 * room * most_record_bytes) << "seed " << seed;
  }
}

}  // namespace
}  // namespace simulated
