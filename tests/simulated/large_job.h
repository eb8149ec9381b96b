// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "simulated/job.h"

namespace simulated {

/// A job of up to 100,000 ranks in one thread, on a network without faults: a rank runs until it
/// waits for a packet, and goes on when there is one. Runs several programs one after the other.
class LargeJob {
 public:
  /// `ranks_per_node` neighbours are on each node; all reach each other by the network.
  LargeJob(int ranks, int ranks_per_node);
  ~LargeJob();
  LargeJob(const LargeJob&) = delete;
  LargeJob& operator=(const LargeJob&) = delete;

  /// What a program has cost, in packets.
  struct Cost {
    double mean = 0;         ///< that a rank sent
    std::uint32_t most = 0;  ///< that one rank received
  };
  /// Runs `program(rank)` in every rank to its end.
  Cost run(const std::function<void(int)>& program);

  /// The most memory that the process had in use at the end of a program, with all stacks.
  [[nodiscard]] std::size_t most_resident() const noexcept { return resident_; }
  [[nodiscard]] int size() const noexcept { return setup_.ranks; }
  [[nodiscard]] Rank& rank(int number) { return *ranks_[generated::at(number)]; }

 private:
  void take_turn(std::uint32_t port);
  void on_posted(std::uint32_t port);
  void be(std::uint32_t rank);
  [[nodiscard]] std::uint32_t next_ready();

  Setup setup_;
  fulmar::fabric::FakeNetwork network_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::unique_ptr<Fibers> fibers_;
  std::deque<std::uint32_t> ready_;
  std::vector<bool> waits_;            ///< for a packet, and is not in `ready_`
  std::vector<std::uint8_t> in_vain_;  ///< polls since the last packet
  std::vector<std::uint32_t> received_;
  std::uint64_t idle_turns_ = 0;
  std::size_t resident_ = 0;
};

/// Memory that the process has in use, in bytes: all of it, not just the heap.
[[nodiscard]] std::size_t resident_bytes();

}  // namespace simulated
