// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "fulmar/measure/tests.h"

namespace fulmar::measure {

/// Rings over all ranks, as HPC Challenge measures them: each rank sends a message to both
/// neighbours and receives one from both, at the same time; `count` rounds.
///
/// ring: neighbours are the ranks before and behind. random_ring: one round on each of `rings_of`
/// rings whose orders are drawn by chance, the same in every run. A message is half a round.
void run_rings(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers, int count);

/// On how many rings a round is.
int rings_of(Kind test);

/// The ranks 0 … size-1 in the order of random ring `number`, the same on each of them.
std::vector<int> random_order(int size, int number);

/// A rank's neighbours in a ring.
struct Neighbours {
  int before;
  int behind;
};
Neighbours neighbours_in(const std::vector<int>& order, int rank);

}  // namespace fulmar::measure
