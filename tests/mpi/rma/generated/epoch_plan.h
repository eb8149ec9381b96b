// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "../../random/dice.h"

// What happens in an epoch of a generated one-sided program.
namespace generated {

[[nodiscard]] inline bool has(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

enum class Sync { fence, pscw, lock_all, locks, exclusive, count };

/// One operation of one origin.
struct Step {
  int window;
  int origin;
  int target;
  std::function<void()> run;
};
using Chain = std::deque<Step>;

/// Some elements of one rank's memory, next to each other.
struct Piece {
  int window;
  int target;
  int begin;
  int room;
};

/// How a window is accessed in an epoch, and between which ranks.
struct EpochPlan {
  Sync sync;
  bool unchecked;  ///< MPI_MODE_NOCHECK
  std::vector<int> origins;
  std::vector<int> targets;
};

/// In any order that keeps that of each chain.
inline std::vector<Step> mixed(Dice& dice, std::vector<Chain>& chains) {
  std::vector<Step> steps;
  std::erase_if(chains, [](const Chain& chain) { return chain.empty(); });
  while (!chains.empty()) {
    const std::size_t chosen = at(dice.below(length(chains)));
    const int run = dice.between(1, 4);
    for (int i = 0; i < run && !chains[chosen].empty(); ++i) {
      steps.push_back(std::move(chains[chosen].front()));
      chains[chosen].pop_front();
    }
    if (chains[chosen].empty()) {
      std::swap(chains[chosen], chains.back());
      chains.pop_back();
    }
  }
  return steps;
}

}  // namespace generated
