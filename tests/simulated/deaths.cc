// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "simulated/deaths.h"

#include <algorithm>
#include <array>

#include "mpi/random/dice.h"

namespace simulated {

using generated::Dice;

Deaths::Deaths(int ranks, std::uint64_t seed) : all_(index(ranks)) {
  Dice dice(generated::mix({seed, 0xdead}));
  const int most = std::min(ranks - 1, dice.chance(60) ? 1 : 3);
  const std::vector<int> order = dice.order(ranks);
  for (int i = 0; i < most; ++i) {
    // At any time, with early turns as likely as late ones.
    const int magnitude = dice.between(1, 13);
    all_[index(order[index(i)])].dies_at = 1 + dice.any() % (std::uint64_t{1} << magnitude);
  }
  constexpr std::array<std::uint64_t, 4> delays = {0, 10, 300, 3000};
  for (Rank& rank : all_) {
    rank.learns.resize(index(ranks));
    for (int i = 0; i < ranks; ++i) {
      rank.delays.push_back(delays[index(dice.below(4))] *
                            static_cast<std::uint64_t>(dice.below(3)));
    }
  }
}

bool Deaths::dies_now(int rank) {
  Rank& self = all_[index(rank)];
  ++self.turns;
  if (self.died || self.dies_at == 0 || self.turns < self.dies_at) return false;
  self.died = true;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (i == index(rank)) continue;
    self.learns[i] = self.turns;
    std::uint64_t& learns = all_[i].learns[index(rank)];
    if (learns == 0) learns = all_[i].turns + 1 + all_[i].delays[index(rank)];
  }
  return true;
}

std::vector<int> Deaths::learned_now(int rank) {
  const Rank& self = all_[index(rank)];
  std::vector<int> learned;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (self.learns[i] != 0 && self.learns[i] == self.turns) learned.push_back(static_cast<int>(i));
  }
  return learned;
}

int Deaths::count() const {
  return static_cast<int>(
      std::count_if(all_.begin(), all_.end(), [](const Rank& each) { return each.died; }));
}

}  // namespace simulated
