// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

namespace simulated {

/// Which ranks of a simulated job die, at which of their turns, and at which of their turns the
/// others detect it. A rank that dies is cut off from the network, in the middle of whatever it
/// does; it goes on alone, as for a process that has lost all others, so that its stack and its
/// objects end in order. At least one rank lives.
class Deaths {
 public:
  Deaths(int ranks, std::uint64_t seed);

  /// The rank has its next turn; true: it dies.
  [[nodiscard]] bool dies_now(int rank);
  /// The ranks that it detects in this turn to have died; one that has died loses all others.
  [[nodiscard]] std::vector<int> learned_now(int rank);
  [[nodiscard]] bool has_died(int rank) const { return all_[index(rank)].died; }
  /// How many have died.
  [[nodiscard]] int count() const;

 private:
  struct Rank {
    std::uint64_t turns = 0;
    std::uint64_t dies_at = 0;  ///< 0: never
    bool died = false;
    std::vector<std::uint64_t> delays;  ///< of the detection of each rank; in turns
    std::vector<std::uint64_t> learns;  ///< when each is detected; 0: not to be
  };
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  std::vector<Rank> all_;
};

}  // namespace simulated
