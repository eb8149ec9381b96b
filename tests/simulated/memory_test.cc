// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "runtime/library_access.h"
#include "simulated/job.h"
#include "support/heap.h"

namespace simulated {
namespace {

constexpr int talkers = 5;  ///< of whom rank 0 exchanges messages with the four others

/// A job of which a few ranks exist; the others do nothing.
class Part {
 public:
  explicit Part(int ranks) : setup_(1), network_(static_cast<std::uint32_t>(ranks)) {
    setup_.set_ranks(ranks);
    setup_.algorithms.clear();
    setup_.compares_calls = false;
    setup_.device.eager_bytes = 64 << 10;
    setup_.device.unexpected_budget_bytes = 16 << 20;
    // The first takes what a process allocates once.
    for (int rank = 0; rank < std::min(ranks, talkers); ++rank) {
      const std::size_t before = heap::bytes_in_use();
      ranks_.push_back(std::make_unique<Rank>(network_, setup_, static_cast<std::uint32_t>(rank)));
      bytes_ = heap::bytes_in_use() - before;
    }
    bytes_of_talk_ = heap::bytes_in_use();
    talk();
    bytes_of_talk_ = heap::bytes_in_use() - bytes_of_talk_;
  }

  /// What a rank has before it has talked to anybody.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// What the messages have left in all ranks that took part, and in the network.
  [[nodiscard]] std::size_t bytes_of_talk() const { return bytes_of_talk_; }
  [[nodiscard]] std::size_t connected() { return ranks_[0]->device().connected_peers(); }

 private:
  void be(std::size_t rank) {
    fulmar::runtime::usable_library.store(&ranks_[rank]->library(), std::memory_order_relaxed);
  }
  /// Both ways, each several times, with a communicator in between.
  void talk() {
    const int others = static_cast<int>(ranks_.size()) - 1;
    for (int round = 0; round < 3; ++round) {
      for (int other = 1; other <= others; ++other) {
        be(0);
        send(other, round);
        be(generated::at(other));
        receive(0, round);
        send(0, round);
        be(0);
        receive(other, round);
      }
    }
  }
  static void send(int to, int tag) {
    std::vector<int> data(1000, tag);
    EXPECT_EQ(MPI_Send(data.data(), 1000, MPI_INT, to, tag, MPI_COMM_WORLD), MPI_SUCCESS);
  }
  static void receive(int from, int tag) {
    std::vector<int> data(1000, -1);
    EXPECT_EQ(MPI_Recv(data.data(), 1000, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    EXPECT_EQ(data.back(), tag);
  }

  Setup setup_;
  fulmar::fabric::FakeNetwork network_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::size_t bytes_ = 0;
  std::size_t bytes_of_talk_ = 0;
};

/// The memory of a process must not grow with ranks that it never talks to by more than a few
/// words: a job of 4096 would otherwise need more for nothing than for its messages.
TEST(Memory, of_a_silent_peer_is_at_most_64_bytes) {
  if (!heap::is_counted()) GTEST_SKIP() << "the allocator of this build does not tell its size";
  constexpr std::size_t budget_bytes = 32 << 20;
  constexpr std::size_t most_bytes_per_peer = 64;
  {
    const Part warm_up(2);
  }
  const int sizes[] = {2, 64, 4096};
  std::size_t bytes[3];
  for (int i = 0; i < 3; ++i) {
    Part part(sizes[i]);
    EXPECT_EQ(part.connected(), generated::at(std::min(sizes[i], talkers) - 1));
    bytes[i] = part.bytes();
    EXPECT_LE(part.bytes() + part.bytes_of_talk(), budget_bytes);
    std::printf("%4d ranks: %zu bytes on the heap of a rank; %zu more in %d that have talked\n",
                sizes[i], part.bytes(), part.bytes_of_talk(), std::min(sizes[i], talkers));
  }
  const std::size_t grown = bytes[2] - bytes[1];
  std::printf("%.1f bytes for each silent peer\n", static_cast<double>(grown) / (4096 - 64));
  EXPECT_LE(grown, most_bytes_per_peer * (4096 - 64));
  EXPECT_GE(grown, 4096U);  // else nothing was counted
}

}  // namespace
}  // namespace simulated
