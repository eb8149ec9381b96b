// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <utility>
#include <vector>

#include "fulmar/measure/tests.h"

namespace fulmar::measure {

/// Ping-pongs of all pairs of ranks, one pair after the other, as HPC Challenge measures them: half
/// a round trip. Called by every rank of the team; rank 0 gets the point, of which the middle
/// figure is the mean over pairs, and the lower and upper ones are the fastest and the slowest
/// pair. The pairs share the time of the point.
Point run_pairs(const Team& team, std::size_t bytes, const Buffers& buffers, const Budget& budget);

/// Every two of `size` ranks once, the lower one first.
std::vector<std::pair<int, int>> pairs_of(int size);

/// The point that stands for the pairs' points; at least one.
Point over_pairs(const std::vector<Point>& pairs);

}  // namespace fulmar::measure
