// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "fulmar/measure/tests.h"

namespace fulmar::measure {

/// `count` calls of a collective operation in a row; rank 0 is the root. `bytes` are those of one
/// block where an operation has a block for each rank, else those of the data. Operations in which
/// some ranks need not wait for others end with a barrier, so that the time is that of all ranks.
void run_collective(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers,
                    int count);

/// How many times `bytes` the buffers of the test must hold.
std::size_t blocks_of(Kind test, int ranks);

}  // namespace fulmar::measure
